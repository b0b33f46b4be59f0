-- Whether anything outside of `auth` belongs to an account: rows of any table that refers to it, and files. The role that sweeps
-- accounts may not read those tables. A table that the owner of this function may not read counts as one with such rows.
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
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    join pg_attribute referred on referred.attrelid = k.confrelid and referred.attnum = k.confkey[1]
    where k.contype = 'f' and k.confrelid = 'auth.users'::regclass and referred.attname = 'id'
      and c.relnamespace <> 'auth'::regnamespace
  loop
    if not (has_schema_privilege(reference.namespace, 'usage') and has_table_privilege(reference.relation, 'select')) then
      return true;
    end if;
    execute format('select exists (select from %s where %I = $1)', reference.relation::regclass, reference.name)
      into is_owner using account;
    if is_owner then
      return true;
    end if;
  end loop;
  return exists (
    select from storage.objects o
    where o.owner = account or o.owner_id = account::text
      or (o.bucket_id = 'documents' and o.name collate "C" >= account || '/' and o.name collate "C" < account || '0')
  );
end
$$;
revoke execute on function auth.owns_rows(uuid) from public;
grant execute on function auth.owns_rows(uuid) to supabase_auth_admin;
