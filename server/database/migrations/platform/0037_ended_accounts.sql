-- An account that is disabled or deleted may have no session whose end could tell others, but signed links that are being read.
create function realtime.announce_account_end() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_notify('realtime_access_change', json_build_object('person', old.id, 'topic', null)::text);
  return null;
end
$$;
revoke execute on function realtime.announce_account_end() from public;
create trigger realtime_account_disabled after update of banned_until, deleted_at on auth.users
  for each row when (
    new.banned_until is distinct from old.banned_until or new.deleted_at is distinct from old.deleted_at
  ) execute function realtime.announce_account_end();
create trigger realtime_account_deleted after delete on auth.users
  for each row execute function realtime.announce_account_end();
