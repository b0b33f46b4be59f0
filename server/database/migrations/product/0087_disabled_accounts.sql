-- Disabling an account stops its answers, running and queued, and pauses its documents that are not read yet.
create or replace function is_disabled(person uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$
  select exists (
    select from auth.users u where u.id = person and (u.banned_until > now() or u.deleted_at is not null)
  )
$$;
grant execute on function is_disabled(uuid) to service_role;

create function tg_users__stop_work() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  stopped record;
begin
  -- Rows that a worker holds are left out, so that the ban need not wait for it: their next claim or renewal stops them.
  for stopped in
    update public.replies r set stop_requested = true
    where r.id in (
      select w.id from public.replies w where w.owner = new.id and w.state in ('queued', 'running')
      for update skip locked)
    returning r.id
  loop
    perform pg_notify('reply_stop', stopped.id::text);
  end loop;
  -- Documents of a space go on: they belong to all of its members.
  update public.documents d
  set state = 'paused', tries = case d.state when 'reading' then d.tries - 1 else d.tries end
  where d.id in (
    select w.id from public.documents w where w.library = new.id and w.state in ('queued', 'reading')
    for update skip locked);
  return null;
end
$$;
revoke execute on function tg_users__stop_work() from public;
create trigger tg_users__stop_work after update of banned_until, deleted_at on auth.users
  for each row when (new.banned_until > now() or new.deleted_at is not null)
  execute function tg_users__stop_work();

-- Answers of an account that is being deleted stop at once, before their worker misses their rows.
create function tg_users__stop_answers() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_notify('reply_stop', r.id::text) from public.replies r where r.owner = old.id and r.state = 'running';
  return old;
end
$$;
revoke execute on function tg_users__stop_answers() from public;
create trigger tg_users__stop_answers before delete on auth.users
  for each row execute function tg_users__stop_answers();
