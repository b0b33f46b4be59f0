-- A PostgreSQL as a hosted Supabase project has it, as far as migrations meet it: schemas and tables that other roles own,
-- a publication, defaults that give everything away, and `project_owner` for its plain role `postgres`.
grant anon, authenticated, service_role to project_owner;
grant supabase_auth_admin, supabase_storage_admin, supabase_realtime_admin to project_owner;
grant usage on schema public to anon, authenticated, service_role;
grant all on schema public to project_owner;
alter default privileges for role project_owner in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role project_owner in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges for role project_owner in schema public grant all on functions to anon, authenticated, service_role;
create schema extensions;
grant usage on schema extensions to public;

create schema auth authorization supabase_auth_admin;
grant usage on schema auth to anon, authenticated, service_role, project_owner;
create table auth.users (
  instance_id uuid, id uuid primary key, aud varchar(255), role varchar(255), email varchar(255),
  encrypted_password varchar(255), email_confirmed_at timestamptz, last_sign_in_at timestamptz,
  raw_app_meta_data jsonb, raw_user_meta_data jsonb, created_at timestamptz, updated_at timestamptz, banned_until timestamptz,
  deleted_at timestamptz
);
alter table auth.users owner to supabase_auth_admin;
alter table auth.users enable row level security;
grant all on auth.users to project_owner;
create function auth.jwt() returns jsonb language sql stable
  as $$ select coalesce(nullif(current_setting('request.jwt.claims', true), ''), '{}')::jsonb $$;
create function auth.uid() returns uuid language sql stable as $$ select (auth.jwt() ->> 'sub')::uuid $$;
create function auth.role() returns text language sql stable as $$ select auth.jwt() ->> 'role' $$;
create function auth.email() returns text language sql stable as $$ select auth.jwt() ->> 'email' $$;

create schema storage authorization supabase_storage_admin;
grant usage on schema storage to anon, authenticated, service_role, project_owner;
create table storage.buckets (
  id text primary key, name text not null, owner uuid, created_at timestamptz default now(),
  updated_at timestamptz default now(), public boolean default false, avif_autodetection boolean default false,
  file_size_limit bigint, allowed_mime_types text[], owner_id text
);
create table storage.objects (
  id uuid primary key default gen_random_uuid(), bucket_id text references storage.buckets, name text, owner uuid,
  created_at timestamptz default now(), updated_at timestamptz default now(), last_accessed_at timestamptz default now(),
  metadata jsonb, path_tokens text[] generated always as (string_to_array(name, '/')) stored, version text,
  owner_id text, user_metadata jsonb
);
alter table storage.buckets owner to supabase_storage_admin;
alter table storage.objects owner to supabase_storage_admin;
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role, project_owner;
create function storage.foldername(name text) returns text[] language sql immutable
  as $$ select (string_to_array(name, '/'))[1:cardinality(string_to_array(name, '/')) - 1] $$;

create schema realtime authorization supabase_realtime_admin;
grant usage on schema realtime to anon, authenticated, service_role, project_owner;
create table realtime.messages (
  topic text not null, extension text not null, payload jsonb, event text, private boolean default false,
  updated_at timestamp not null default now(), inserted_at timestamp not null default now(),
  id uuid not null default gen_random_uuid(), primary key (id, inserted_at)
) partition by range (inserted_at);
create table realtime.messages_all partition of realtime.messages default;
alter table realtime.messages owner to supabase_realtime_admin;
alter table realtime.messages enable row level security;
grant select, insert, update on realtime.messages to anon, authenticated, service_role, project_owner;
create function realtime.topic() returns text language sql stable
  as $$ select nullif(current_setting('realtime.topic', true), '') $$;
create function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language sql as $$
    insert into realtime.messages (payload, event, topic, private, extension) values (payload, event, topic, private, 'broadcast')
  $$;

create publication supabase_realtime;
alter publication supabase_realtime owner to project_owner;
