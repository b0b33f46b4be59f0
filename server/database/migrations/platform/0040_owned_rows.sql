-- Whether anything outside of `auth` belongs to an account: rows of any table that refers to it, and files. The role that sweeps
-- accounts may not read those tables. A table of which the owner of this function may not read every row counts as one with such
-- rows.
create function auth.owns_rows(account uuid) returns boolean
  language plpgsql stable security definer set search_path = '' cost 10000
as $$
declare
  reference record;
  is_owner boolean;
begin
  for reference in
    select k.conrelid as relation, c.relnamespace as namespace, a.attname as name
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    cross join lateral unnest(k.conkey, k.confkey) as pair(referring, referred)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.referring
    join pg_attribute r on r.attrelid = k.confrelid and r.attnum = pair.referred
    where k.contype = 'f' and k.confrelid = 'auth.users'::regclass and r.attname = 'id'
      and c.relnamespace <> 'auth'::regnamespace
  loop
    if not (has_schema_privilege(reference.namespace, 'usage') and has_table_privilege(reference.relation, 'select'))
      or row_security_active(reference.relation)
    then
      return true;
    end if;
    execute format('select exists (select from %s where %I = $1)', reference.relation::regclass, reference.name)
      into is_owner using account;
    if is_owner then
      return true;
    end if;
  end loop;
  -- One condition each, so that each uses its index.
  return row_security_active('storage.objects')
    or exists (select from storage.objects o where o.owner = account)
    or exists (select from storage.objects o where o.owner_id = account::text)
    or exists (
      select from storage.objects o
      where o.bucket_id = 'documents' and o.name collate "C" >= account || '/' and o.name collate "C" < account || '0'
    );
end
$$;
revoke execute on function auth.owns_rows(uuid) from public;
grant execute on function auth.owns_rows(uuid) to supabase_auth_admin;

create index objects_owner_idx on storage.objects (owner) where owner is not null;
create index objects_owner_id_idx on storage.objects (owner_id) where owner_id is not null;

-- When the sweep last found rows of an account whose invitation was not accepted.
alter table auth.users add column owned_rows_at timestamptz;
