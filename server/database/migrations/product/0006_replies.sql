-- The queue of questions that wait for an answer, and the log of what is being written. A question is queued in the
-- transaction that stores it, whoever inserts it.
create table replies (
  id uuid primary key default gen_random_uuid(),
  message_id uuid not null unique references messages on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  owner uuid not null references auth.users on delete cascade,
  answer_id uuid not null default gen_random_uuid(),
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'stopped')),
  attempt integer not null default 0,
  -- Beginnings that neither finished nor were handed back, so that a question that takes its worker down is given up.
  tries integer not null default 0,
  -- The person wants no more of it: whoever writes it, or comes to write it, ends it as it is.
  stop_requested boolean not null default false,
  worker text,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index replies_unfinished_idx on replies (created_at) where state in ('queued', 'running');
create index replies_conversation_id_idx on replies (conversation_id, created_at);
create index replies_owner_running_idx on replies (owner) where state = 'running';

alter table replies enable row level security;
alter table replies force row level security;

create policy "owner reads own replies" on replies
  for select to authenticated using (owner = (select auth.uid()));

grant select on replies to authenticated;
grant select, insert, update, delete on replies to service_role;

-- Parts of the running attempt, in order, until the finished message replaces them. Losing the last of them in a crash
-- is harmless: the attempt is begun anew.
create unlogged table reply_parts (
  reply_id uuid not null references replies on delete cascade,
  attempt integer not null,
  seq integer not null,
  owner uuid not null,
  payload jsonb not null,
  primary key (reply_id, attempt, seq)
);

alter table reply_parts enable row level security;
alter table reply_parts force row level security;

create policy "owner reads parts of own replies" on reply_parts
  for select to authenticated using (owner = (select auth.uid()));

grant select on reply_parts to authenticated;
grant select, insert, delete on reply_parts to service_role;

create function tg_messages__enqueue_reply() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.replies (message_id, conversation_id, owner)
  select new.id, new.conversation_id, c.uid from public.conversations c where c.id = new.conversation_id;
  perform pg_notify('replies', new.conversation_id::text);
  return null;
end
$$;
create trigger tg_messages__enqueue_reply after insert on messages
  for each row when (new.sender_role = 1) execute function tg_messages__enqueue_reply();

create policy "owner hears replies of own conversations" on realtime.messages
  for select to authenticated
  using (
    extension = 'broadcast'
    and exists (
      select from conversations c
      where c.uid = (select auth.uid()) and 'conversation:' || c.id = (select realtime.topic())
    )
  );
