-- Every node remembers whether the person of a session has a second factor, which the session's tokens must then have
-- brought; it forgets when that changes.
create function auth.announce_factor_change() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_notify('auth_factors', coalesce(new.user_id, old.user_id)::text);
  return null;
end
$$;
create trigger announce_factor_change after insert or update of status or delete on auth.mfa_factors
  for each row execute function auth.announce_factor_change();
