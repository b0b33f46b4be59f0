-- The newest answer of each conversation: unread ones are found without reading messages. Conversations that were answered
-- before have no row, so that none of them counts as unread.
create table latest_answers (
  conversation_id uuid primary key references conversations (id) on delete cascade,
  -- As in `conversations`, whose triggers write them here: policies read no other table.
  owner uuid,
  space_id uuid,
  is_shared boolean not null,
  position bigint not null,
  answered_at timestamptz not null default now()
);
create index latest_answers_owner_idx on latest_answers (owner, space_id, answered_at desc);
create index latest_answers_space_id_idx on latest_answers (space_id, answered_at desc) where is_shared;

-- Up to which message a person has read a conversation.
create table conversation_reads (
  user_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
  conversation_id uuid not null references conversations (id) on delete cascade,
  position bigint not null,
  read_at timestamptz not null default now(),
  primary key (conversation_id, user_id)
);
create index conversation_reads_user_id_idx on conversation_reads (user_id);
create index conversation_reads_read_at_idx on conversation_reads (read_at);

alter table latest_answers enable row level security;
alter table latest_answers force row level security;
create policy "latest answers are read by who reads their conversation" on latest_answers for select to authenticated
  using (
    (owner = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('read'))::uuid[])))
    or (is_shared and space_id = any ((select spaces_to('read'))::uuid[]))
  );
grant select on latest_answers to authenticated;
grant select, insert, update, delete on latest_answers to service_role;

alter table conversation_reads enable row level security;
alter table conversation_reads force row level security;
create policy "a person reads the own marks" on conversation_reads for select to authenticated
  using (user_id = (select auth.uid()));
create policy "a person marks a conversation that it may read" on conversation_reads for insert to authenticated
  with check (user_id = (select auth.uid()) and exists (select from conversations c where c.id = conversation_id));
create policy "a person changes the own marks" on conversation_reads for update to authenticated
  using (user_id = (select auth.uid()))
  with check (user_id = (select auth.uid()));
grant select on conversation_reads to authenticated;
grant insert (user_id, conversation_id, position), update (position, read_at) on conversation_reads to authenticated;
grant select, insert, update, delete on conversation_reads to service_role;

create function tg_messages__note_answer() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- The copied answers of a branch are not new.
  if coalesce(current_setting('alcove.copies_answered', true), '') <> 'on' then
    insert into public.latest_answers as a (conversation_id, owner, space_id, is_shared, position)
    select c.id, c.uid, c.space_id, c.is_shared, new.position from public.conversations c where c.id = new.conversation_id
    on conflict (conversation_id) do update
    set position = excluded.position, answered_at = excluded.answered_at where a.position < excluded.position;
  end if;
  return null;
end
$$;
create trigger tg_messages__note_answer after insert on messages for each row
  when (new.sender_role = 2) execute function tg_messages__note_answer();

create function tg_conversations__move_latest_answer() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.latest_answers a set owner = new.uid, space_id = new.space_id, is_shared = new.is_shared
  where a.conversation_id = new.id;
  return null;
end
$$;
create trigger tg_conversations__move_latest_answer after update on conversations for each row
  when ((old.uid, old.space_id, old.is_shared) is distinct from (new.uid, new.space_id, new.is_shared))
  execute function tg_conversations__move_latest_answer();

-- Conversations of the caller, and those shared in the own spaces, with an answer that the caller has not read: of each space
-- and of the personal ones the newest hundred, answered within thirty days and not before the caller joined.
create function unread_conversations() returns table (conversation_id uuid, space_id uuid, "position" bigint)
  language sql stable set search_path = ''
as $$
  (
    select a.conversation_id, a.space_id, a.position
    from public.latest_answers a
    where a.owner = (select auth.uid()) and a.space_id is null and a.answered_at > now() - interval '30 days'
      and not exists (
        select from public.conversation_reads r
        where r.user_id = (select auth.uid()) and r.conversation_id = a.conversation_id and r.position >= a.position
      )
    order by a.answered_at desc
    limit 100
  )
  union all
  select unread.conversation_id, unread.space_id, unread.position
  from public.space_members m
  cross join lateral (
    select readable.conversation_id, readable.space_id, readable.position
    from (
      select * from public.latest_answers a where a.space_id = m.space_id and a.owner = m.user_id
      union all
      select * from public.latest_answers a
      where a.space_id = m.space_id and a.is_shared and a.owner is distinct from m.user_id
    ) readable
    where readable.answered_at > greatest(m.added_at, now() - interval '30 days')
      and not exists (
        select from public.conversation_reads r
        where r.user_id = m.user_id and r.conversation_id = readable.conversation_id and r.position >= readable.position
      )
    order by readable.answered_at desc
    limit 100
  ) unread
  where m.user_id = (select auth.uid())
$$;
revoke execute on function unread_conversations() from public;
grant execute on function unread_conversations() to authenticated;

-- Never moves a mark back: a device that lags behind has read less.
create function read_conversation(conversation uuid, up_to bigint) returns void
  language sql volatile set search_path = ''
as $$
  insert into public.conversation_reads as r (user_id, conversation_id, position)
  select auth.uid(), c.id, up_to from public.conversations c where c.id = conversation
  on conflict (conversation_id, user_id) do update set position = excluded.position, read_at = now()
  where r.position < excluded.position
$$;
revoke execute on function read_conversation(uuid, bigint) from public;
grant execute on function read_conversation(uuid, bigint) to authenticated;

alter publication supabase_realtime add table latest_answers;
alter publication supabase_realtime add table conversation_reads;
