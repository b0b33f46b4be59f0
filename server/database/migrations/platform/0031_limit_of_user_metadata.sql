-- `user_metadata` is written by people, also by strangers who sign up, and each update adds to what is there. It is measured
-- in memory: its text may be far longer, and is not written out for it.
create function auth.require_metadata_size(metadata jsonb) returns void
  language plpgsql immutable set search_path = ''
as $$
begin
  if pg_column_size(metadata || '{}') > 32000 then
    raise exception using errcode = 'PT413', message = 'The user metadata of one account may take at most 32 kB.';
  end if;
end
$$;

grant execute on function auth.require_metadata_size(jsonb) to supabase_auth_admin, service_role;

create function auth.limit_user_metadata() returns trigger
  language plpgsql volatile set search_path = ''
as $$
begin
  if tg_op = 'INSERT' or new.raw_user_meta_data is distinct from old.raw_user_meta_data then
    perform auth.require_metadata_size(new.raw_user_meta_data);
  end if;
  return new;
end
$$;
create trigger limit_user_metadata before insert or update of raw_user_meta_data on auth.users
  for each row execute function auth.limit_user_metadata();
