create table conversations (
  id uuid primary key default gen_random_uuid(),
  uid uuid not null default auth.uid() references auth.users on delete cascade,
  title text,
  model_name text not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  metadata jsonb default '{}',
  pinned boolean not null default false
);
create index conversations_uid_started_at_idx on conversations (uid, started_at desc);

alter table conversations enable row level security;
alter table conversations force row level security;

create policy "owner reads own conversations" on conversations
  for select to authenticated using (uid = (select auth.uid()));
create policy "owner creates own conversations" on conversations
  for insert to authenticated with check (uid = (select auth.uid()));
create policy "owner changes own conversations" on conversations
  for update to authenticated using (uid = (select auth.uid())) with check (uid = (select auth.uid()));
create policy "owner deletes own conversations" on conversations
  for delete to authenticated using (uid = (select auth.uid()));

grant select, delete on conversations to authenticated;
grant insert (id, uid, title, model_name, started_at, ended_at, metadata, pinned) on conversations to authenticated;
grant update (title, model_name, started_at, ended_at, metadata, pinned) on conversations to authenticated;
grant select, insert, update, delete on conversations to service_role;

alter publication supabase_realtime add table conversations;
