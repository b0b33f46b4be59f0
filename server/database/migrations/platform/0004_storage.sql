-- Buckets and objects with Supabase's table and column names. Policies decide who may do what with which object, as the
-- caller; the bytes rest in the blob store under ids that no caller can set.

create schema storage;
grant usage on schema storage to anon, authenticated, service_role;

-- Bound when they are made, so that without a search path of their own they can be inlined into policies.
create function storage.foldername(name text) returns text[]
  language sql immutable strict parallel safe
  return trim_array(string_to_array(name, '/'), least(1, cardinality(string_to_array(name, '/'))));

create function storage.filename(name text) returns text
  language sql immutable strict parallel safe
  return split_part(name, '/', -1);

create function storage.extension(name text) returns text
  language sql immutable strict parallel safe
  return split_part(storage.filename(name), '.', -1);

grant execute on function storage.foldername(text), storage.filename(text), storage.extension(text)
  to anon, authenticated, service_role;

create type storage.buckettype as enum ('STANDARD', 'ANALYTICS', 'VECTOR');

create table storage.buckets (
  id text primary key,
  name text not null,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  public boolean default false,
  avif_autodetection boolean default false,
  file_size_limit bigint,
  allowed_mime_types text[],
  owner_id text,
  type storage.buckettype not null default 'STANDARD'
);
create unique index bname on storage.buckets (name);

create table storage.objects (
  id uuid primary key default gen_random_uuid(),
  bucket_id text constraint "objects_bucketId_fkey" references storage.buckets,
  name text,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  version text,
  owner_id text,
  user_metadata jsonb,
  -- Where the bytes are. Whoever could set it could read or discard the bytes of others.
  blob_id text
);
create unique index bucketid_objname on storage.objects (bucket_id, name);
-- Folders are walked in this order; equality and comparison of text are leakproof, so policies keep the index usable.
create index objects_bucket_id_name_idx on storage.objects (bucket_id, name collate "C");
create unique index objects_blob_id_key on storage.objects (blob_id);

-- Bytes whose object is gone or was replaced; the service removes them from the blob store, so that a delete is one
-- transaction. No person may read or write it, hence no policy.
create table storage.discarded_blobs (
  blob_id text primary key,
  discarded_at timestamptz not null default now()
);

alter table storage.buckets enable row level security;
alter table storage.buckets force row level security;
alter table storage.objects enable row level security;
alter table storage.objects force row level security;
alter table storage.discarded_blobs enable row level security;
alter table storage.discarded_blobs force row level security;

grant select, insert, update, delete on storage.buckets to anon, authenticated, service_role;
grant select, delete on storage.objects to anon, authenticated;
grant insert (id, bucket_id, name, owner, created_at, updated_at, last_accessed_at, metadata, version, owner_id, user_metadata),
  update (id, bucket_id, name, owner, created_at, updated_at, last_accessed_at, metadata, version, owner_id, user_metadata)
  on storage.objects to anon, authenticated;
grant select, insert, update, delete on storage.objects, storage.discarded_blobs to service_role;

create function storage.discard_blob() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into storage.discarded_blobs (blob_id) values (old.blob_id) on conflict do nothing;
  return null;
end
$$;
create trigger discard_removed_blob after delete on storage.objects
  for each row when (old.blob_id is not null) execute function storage.discard_blob();
create trigger discard_replaced_blob after update of blob_id on storage.objects
  for each row when (old.blob_id is distinct from new.blob_id and old.blob_id is not null)
  execute function storage.discard_blob();

create function storage.update_updated_at_column() returns trigger
  language plpgsql volatile set search_path = ''
as $$
begin
  new.updated_at := now();
  return new;
end
$$;
create trigger update_objects_updated_at before update on storage.objects
  for each row execute function storage.update_updated_at_column();
