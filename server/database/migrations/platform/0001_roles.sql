-- The roles and helper functions that SQL written for Supabase expects. Only on our own PostgreSQL: a hosted project has them.
-- The login role `authenticator` is created by migrate.ts, which alone knows its password.

do $$
declare
  wanted text;
begin
  foreach wanted in array array['anon', 'authenticated', 'service_role', 'supabase_auth_admin'] loop
    begin
      execute format('create role %I nologin noinherit', wanted);
    exception when duplicate_object or unique_violation then
      null; -- roles belong to the cluster: another database of it may have made them
    end;
  end loop;
end
$$;

alter role service_role bypassrls;
alter role supabase_auth_admin bypassrls;
grant anon, authenticated, service_role, supabase_auth_admin to authenticator;

-- PostgreSQL lets every role create in and use what is not taken away; here nothing is given but by name.
revoke all on schema public from public;
grant usage on schema public to anon, authenticated, service_role;
alter default privileges revoke execute on functions from public;

create schema auth;
grant usage on schema auth to anon, authenticated, service_role, supabase_auth_admin;

create function auth.jwt() returns jsonb
  language sql stable set search_path = ''
  return coalesce(nullif(current_setting('request.jwt.claims', true), ''), '{}')::jsonb;

create function auth.uid() returns uuid
  language sql stable set search_path = ''
  return nullif(auth.jwt() ->> 'sub', '')::uuid;

create function auth.role() returns text
  language sql stable set search_path = ''
  return auth.jwt() ->> 'role';

create function auth.email() returns text
  language sql stable set search_path = ''
  return auth.jwt() ->> 'email';

grant execute on function auth.jwt(), auth.uid(), auth.role(), auth.email()
  to anon, authenticated, service_role, supabase_auth_admin;

-- Secrets that all nodes share where DATABASE_URL is set, encrypted with a key derived from ALCOVE_SECRET.
create schema alcove;
create table alcove.wrapped_secrets (
  name text primary key,
  wrapped bytea not null,
  created_at timestamptz not null default now()
);
alter table alcove.wrapped_secrets enable row level security;
alter table alcove.wrapped_secrets force row level security;
