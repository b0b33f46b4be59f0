-- People who operate the installation. A row gives no right on any row of another person: it opens the operation section alone.
create table operators (
  user_id uuid primary key references auth.users (id) on delete cascade,
  added_at timestamptz not null default now()
);

-- Links that make their first user the operator, by the SHA-256 hash of their token.
create table operator_links (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  expires_at timestamptz not null
);

-- Settings that an operator changed in the page. Those of the environment take precedence.
create table operator_settings (
  name text primary key check (char_length(name) <= 60),
  value text not null check (char_length(value) <= 200),
  changed_at timestamptz not null default now(),
  changed_by uuid references auth.users (id) on delete set null
);

alter table operators enable row level security;
alter table operators force row level security;
create policy "a person reads whether it is an operator" on operators for select to authenticated
  using (user_id = (select auth.uid()));
grant select on operators to authenticated;
grant select, insert, delete on operators to service_role;

alter table operator_links enable row level security;
alter table operator_links force row level security;
grant select, insert, delete on operator_links to service_role;

alter table operator_settings enable row level security;
alter table operator_settings force row level security;
grant select, insert, update, delete on operator_settings to service_role;
