-- What stands for the beginning of a conversation that has outgrown its model's window: everything up to a position.
-- Made once, and used by every answer after it.
create table conversation_summaries (
  id uuid primary key default gen_random_uuid(),
  conversation_id uuid not null references conversations on delete cascade,
  through_position bigint not null,
  -- How many messages it stands for.
  messages integer not null,
  content text not null,
  -- Who wrote it; the Reader takes sentences out of the messages.
  model text not null,
  created_at timestamptz not null default now(),
  unique (conversation_id, through_position)
);

alter table conversation_summaries enable row level security;
alter table conversation_summaries force row level security;

create policy "owner reads summaries of own conversations" on conversation_summaries
  for select to authenticated
  using (exists (select from conversations c where c.id = conversation_id and c.uid = (select auth.uid())));

grant select on conversation_summaries to authenticated;
grant select, insert, delete on conversation_summaries to service_role;

-- A message that was written anew is not what was summarised.
create function tg_messages__forget_summaries() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from public.conversation_summaries s
  where s.conversation_id = old.conversation_id and s.through_position >= old.position;
  return null;
end
$$;
create trigger tg_messages__forget_summaries after update of content on messages
  for each row when (old.content is distinct from new.content) execute function tg_messages__forget_summaries();
