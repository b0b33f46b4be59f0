-- Servers of tools (Model Context Protocol) that a person has connected: by address, or one of the operator's commands.
create table tool_servers (
  id uuid primary key default gen_random_uuid(),
  owner uuid not null default auth.uid() references auth.users on delete cascade,
  name text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,23}$'),
  url text check (char_length(url) <= 500),
  command text check (char_length(command) <= 60),
  sealed_token bytea check (octet_length(sealed_token) <= 5000),
  last_four text check (char_length(last_four) <= 4),
  -- As the server listed them when it was connected: name, description, schema of the arguments.
  tools jsonb not null default '[]',
  created_at timestamptz not null default now(),
  unique (owner, name),
  check ((url is null) <> (command is null))
);

alter table tool_servers enable row level security;
alter table tool_servers force row level security;

create policy "owner reads own tool servers" on tool_servers
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner connects own tool servers" on tool_servers
  for insert to authenticated with check (owner = (select auth.uid()));
create policy "owner removes own tool servers" on tool_servers
  for delete to authenticated using (owner = (select auth.uid()));

grant select (id, owner, name, url, command, last_four, tools, created_at) on tool_servers to authenticated;
grant insert (id, owner, name, url, command, sealed_token, last_four, tools) on tool_servers to authenticated;
grant delete on tool_servers to authenticated;
grant select, insert, update, delete on tool_servers to service_role;

-- Leave, given once for a whole conversation, to call what a server offers.
create table tool_consents (
  conversation_id uuid not null references conversations on delete cascade,
  server_id uuid not null references tool_servers on delete cascade,
  owner uuid not null default auth.uid() references auth.users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (conversation_id, server_id)
);
create index tool_consents_server_id_idx on tool_consents (server_id);
create index tool_consents_owner_idx on tool_consents (owner);

alter table tool_consents enable row level security;
alter table tool_consents force row level security;

create policy "owner reads own consents" on tool_consents
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner consents for own conversations and servers" on tool_consents
  for insert to authenticated
  with check (
    owner = (select auth.uid())
    and exists (select from conversations c where c.id = conversation_id and c.uid = (select auth.uid()))
    and exists (select from tool_servers s where s.id = server_id and s.owner = (select auth.uid()))
  );
create policy "owner withdraws own consents" on tool_consents
  for delete to authenticated using (owner = (select auth.uid()));

grant select, delete on tool_consents to authenticated;
grant insert (conversation_id, server_id, owner) on tool_consents to authenticated;
grant select, insert, update, delete on tool_consents to service_role;

-- Calls that wait for the person's word, across restarts of whoever writes the reply.
create table tool_requests (
  id uuid primary key default gen_random_uuid(),
  reply_id uuid not null references replies on delete cascade,
  conversation_id uuid not null references conversations on delete cascade,
  server_id uuid not null references tool_servers on delete cascade,
  owner uuid not null references auth.users on delete cascade,
  tool text not null,
  arguments jsonb not null,
  state text not null default 'waiting' check (state in ('waiting', 'once', 'conversation', 'denied')),
  expires_at timestamptz not null,
  -- The attempt of the reply that has made use of leave for one call.
  used_in integer
);
create index tool_requests_reply_id_idx on tool_requests (reply_id);
create index tool_requests_conversation_id_idx on tool_requests (conversation_id);
create index tool_requests_server_id_idx on tool_requests (server_id);
create index tool_requests_owner_idx on tool_requests (owner);

alter table tool_requests enable row level security;
alter table tool_requests force row level security;

create policy "owner reads own tool requests" on tool_requests
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner answers own waiting tool requests" on tool_requests
  for update to authenticated
  using (owner = (select auth.uid()) and state = 'waiting') with check (owner = (select auth.uid()));

grant select on tool_requests to authenticated;
grant update (state) on tool_requests to authenticated;
grant select, insert, update, delete on tool_requests to service_role;
