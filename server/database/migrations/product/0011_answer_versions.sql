-- Answers that are written anew, go on where they were cut, or are left behind by a branch. The answer of `messages` is
-- always the newest version; those before it rest here and can be leafed through.
create table message_versions (
  message_id uuid not null references messages on delete cascade,
  version integer not null check (version > 0),
  content text not null,
  token_in integer,
  token_out integer,
  created_at timestamptz not null,
  metadata jsonb not null default '{}',
  primary key (message_id, version)
);

alter table message_versions enable row level security;
alter table message_versions force row level security;

-- The inner select is subject to the policies of messages: a version is read by whoever reads its answer.
create policy "owner reads versions of own answers" on message_versions
  for select to authenticated using (exists (select from messages m where m.id = message_id));

grant select on message_versions to authenticated;
grant select, insert, update, delete on message_versions to service_role;

-- A rating belongs to the version that was rated: the newest one's number is `metadata.version` of the answer, 1 where absent.
alter table message_feedback add column version integer not null default 1 check (version > 0);
alter table message_feedback drop constraint message_feedback_pkey;
alter table message_feedback add primary key (message_id, version);
alter table message_feedback add constraint message_feedback_reason_check check (char_length(reason) <= 2000);
grant insert (version) on message_feedback to authenticated;

-- What a queued reply is to do: answer for the first time or again after a failure, write another version of an answer
-- that is there, or go on with it. `model_name` is the model of this one version, where it is not the conversation's.
alter table replies add column kind text not null default 'answer' check (kind in ('answer', 'rewrite', 'continue'));
alter table replies add column model_name text;

-- The questions that a branch copies have been answered: whoever copies says so for the transaction.
create or replace function tg_messages__enqueue_reply() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if current_setting('alcove.copies_answered', true) = 'on' then
    return null;
  end if;
  insert into public.replies (message_id, conversation_id, owner)
  select new.id, new.conversation_id, c.uid from public.conversations c where c.id = new.conversation_id;
  perform pg_notify('replies', new.conversation_id::text);
  return null;
end
$$;
