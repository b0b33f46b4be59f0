create table messages (
  id uuid primary key default gen_random_uuid(),
  conversation_id uuid not null references conversations on delete cascade,
  content text not null,
  sender_role smallint not null check (sender_role in (1, 2, 3)),
  token_in integer,
  token_out integer,
  created_at timestamptz not null default now(),
  metadata jsonb default '{}',
  position bigint generated always as identity
);
create index messages_conversation_id_position_idx on messages (conversation_id, position);

alter table messages enable row level security;
alter table messages force row level security;

-- The inner select is subject to the policies of conversations: a message is read by whoever reads its conversation.
create policy "owner reads messages of own conversations" on messages
  for select to authenticated
  using (exists (select from conversations c where c.id = conversation_id and c.uid = (select auth.uid())));
create policy "owner asks in own conversations" on messages
  for insert to authenticated
  with check (
    sender_role = 1
    and exists (select from conversations c where c.id = conversation_id and c.uid = (select auth.uid()))
  );

grant select on messages to authenticated;
grant insert (id, conversation_id, content, sender_role, token_in, token_out, created_at, metadata) on messages to authenticated;
grant select, insert, update, delete on messages to service_role;

alter publication supabase_realtime add table messages;
