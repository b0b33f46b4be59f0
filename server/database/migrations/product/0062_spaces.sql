-- A space: documents, conversations and instructions that several people share. What belongs to no space is personal.
create table spaces (
  id uuid primary key default gen_random_uuid(),
  name text not null check (char_length(btrim(name)) between 1 and 100),
  instructions text not null default '' check (char_length(instructions) <= 20000),
  color text not null default 'blue' check (char_length(color) between 1 and 40),
  default_model text check (char_length(default_model) <= 300),
  created_by uuid default auth.uid() references auth.users (id) on delete set null,
  created_at timestamptz not null default now(),
  archived_at timestamptz
);
create index spaces_created_by_idx on spaces (created_by);

create table space_members (
  space_id uuid not null references spaces (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  role text not null check (role in ('owner', 'editor', 'reader')),
  added_at timestamptz not null default now(),
  primary key (space_id, user_id)
);
create index space_members_user_id_idx on space_members (user_id, space_id);

create table space_invitations (
  id uuid primary key default gen_random_uuid(),
  space_id uuid not null references spaces (id) on delete cascade,
  email text not null check (char_length(email) between 3 and 320 and email = lower(email)),
  role text not null check (role in ('owner', 'editor', 'reader')),
  invited_by uuid references auth.users (id) on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '14 days',
  unique (space_id, email)
);
create index space_invitations_email_idx on space_invitations (email);
create index space_invitations_invited_by_idx on space_invitations (invited_by);

create table space_events (
  id bigint generated always as identity primary key,
  space_id uuid not null references spaces (id) on delete cascade,
  actor uuid references auth.users (id) on delete set null,
  kind text not null,
  -- The person, document, conversation or link that it happened to.
  subject uuid,
  detail jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index space_events_space_id_idx on space_events (space_id, id desc);
create index space_events_actor_idx on space_events (actor);
create index space_events_created_at_idx on space_events (created_at);

-- Spaces in which the caller has a right: 'read', 'ask' (conversations of one's own), 'edit' (documents, instructions, going on
-- in shared conversations) or 'own'. An archived space can only be read and owned. Policies ask once for each statement.
create function spaces_to(wanted text) returns uuid[]
  language sql stable security definer set search_path = ''
as $$
  select coalesce(array_agg(m.space_id), '{}')
  from public.space_members m
  where m.user_id = auth.uid()
    and case wanted
      when 'read' then true
      when 'own' then m.role = 'owner'
      when 'edit' then m.role in ('owner', 'editor')
      else wanted = 'ask'
    end
    and (wanted in ('read', 'own') or exists (
      select from public.spaces s where s.id = m.space_id and s.archived_at is null
    ))
$$;
revoke execute on function spaces_to(text) from public;
grant execute on function spaces_to(text) to authenticated, service_role;

-- A library holds documents: a person's, named as the person, or a space's, named as the space. A statement that sets
-- `alcove.libraries` to a list of ids sees no others.
create function libraries_to(wanted text) returns uuid[]
  language sql stable security definer set search_path = ''
as $$
  select case
    when nullif(current_setting('alcove.libraries', true), '') is null then auth.uid() || public.spaces_to(wanted)
    else array(
      select l from unnest(auth.uid() || public.spaces_to(wanted)) as l
      where l = any (string_to_array(current_setting('alcove.libraries', true), ',')::uuid[])
    )
  end
$$;
revoke execute on function libraries_to(text) from public;
grant execute on function libraries_to(text) to authenticated, service_role;

-- The caller's address, once its owner has confirmed it.
create function confirmed_email() returns text
  language sql stable security definer set search_path = ''
as $$
  select lower(u.email) from auth.users u where u.id = auth.uid() and u.email_confirmed_at is not null
$$;
revoke execute on function confirmed_email() from public;
grant execute on function confirmed_email() to authenticated, service_role;

-- False for spaces of other creators, so that it tells nothing about them.
create function has_members(space uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$
  select exists (
    select from public.space_members m join public.spaces s on s.id = m.space_id
    where s.id = space and s.created_by = auth.uid()
  )
$$;
revoke execute on function has_members(uuid) from public;
grant execute on function has_members(uuid) to authenticated, service_role;

-- A server without our realtime service ignores it.
create function announce_access_change(person uuid, topic text) returns void
  language sql volatile security definer set search_path = ''
as $$
  select pg_notify('realtime_access_change', json_build_object('person', person, 'topic', topic)::text)
$$;
revoke execute on function announce_access_change(uuid, text) from public;

-- Tells the pages of a space's members that something has left it. A row that moves is no longer theirs to hear of.
create function tell_space(space uuid, gone jsonb) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if space is not null then
    perform realtime.send(gone, 'gone', 'space:' || space, true);
  end if;
end
$$;
revoke execute on function tell_space(uuid, jsonb) from public;

create function record_space_event(space uuid, kind text, subject uuid, detail jsonb) returns void
  language sql volatile security definer set search_path = ''
as $$
  insert into public.space_events (space_id, actor, kind, subject, detail)
  select s.id, (select u.id from auth.users u where u.id = auth.uid()), kind, subject, detail
  from public.spaces s where s.id = space
$$;
revoke execute on function record_space_event(uuid, text, uuid, jsonb) from public;

alter table spaces enable row level security;
alter table spaces force row level security;
-- While its first member is being added, a space has none.
create policy "members read a space" on spaces for select to authenticated
  using (
    id = any ((select spaces_to('read'))::uuid[])
    or (created_by = (select auth.uid()) and not has_members(id))
  );
create policy "everyone signed in creates spaces" on spaces for insert to authenticated
  with check (created_by = (select auth.uid()) and archived_at is null);
create policy "owners and editors change a space" on spaces for update to authenticated
  using (id = any ((select spaces_to('edit'))::uuid[] || (select spaces_to('own'))::uuid[]))
  with check (id = any ((select spaces_to('read'))::uuid[]));
create policy "owners delete a space" on spaces for delete to authenticated
  using (id = any ((select spaces_to('own'))::uuid[]));
grant select, delete on spaces to authenticated;
grant insert (id, name, instructions, color, default_model, created_by) on spaces to authenticated;
grant update (name, instructions, color, default_model, archived_at) on spaces to authenticated;
grant select, insert, update, delete on spaces to service_role;

alter table space_members enable row level security;
alter table space_members force row level security;
-- A removed member hears of it by the own row, which no longer exists.
create policy "members read who is in their spaces" on space_members for select to authenticated
  using (user_id = (select auth.uid()) or space_id = any ((select spaces_to('read'))::uuid[]));
create policy "owners change roles" on space_members for update to authenticated
  using (space_id = any ((select spaces_to('own'))::uuid[]))
  with check (space_id = any ((select spaces_to('own'))::uuid[]));
create policy "owners remove members, who may also leave" on space_members for delete to authenticated
  using (
    space_id = any ((select spaces_to('own'))::uuid[])
    or (user_id = (select auth.uid()) and space_id = any ((select spaces_to('read'))::uuid[]))
  );
grant select, delete on space_members to authenticated;
grant update (role) on space_members to authenticated;
grant select, insert, update, delete on space_members to service_role;

alter table space_invitations enable row level security;
alter table space_invitations force row level security;
create policy "owners read the invitations of a space" on space_invitations for select to authenticated
  using (space_id = any ((select spaces_to('own'))::uuid[]));
create policy "a person reads invitations to the own address" on space_invitations for select to authenticated
  using (email = (select confirmed_email()) and expires_at > now());
create policy "owners withdraw invitations" on space_invitations for delete to authenticated
  using (space_id = any ((select spaces_to('own'))::uuid[]));
grant select (id, space_id, email, role, invited_by, created_at, expires_at) on space_invitations to authenticated;
grant delete on space_invitations to authenticated;
grant select, insert, update, delete on space_invitations to service_role;

alter table space_events enable row level security;
alter table space_events force row level security;
create policy "owners read what happened in a space" on space_events for select to authenticated
  using (space_id = any ((select spaces_to('own'))::uuid[]));
grant select on space_events to authenticated;
grant select, insert, delete on space_events to service_role;

create function tg_space_invitations__record() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if old.space_id = any (public.spaces_to('own')) then
    perform public.record_space_event(old.space_id, 'invitation_withdrawn', null, jsonb_build_object('email', old.email));
  end if;
  return null;
end
$$;
create trigger tg_space_invitations__record after delete on space_invitations
  for each row execute function tg_space_invitations__record();

create function tg_spaces__guard() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    -- Libraries of people and of spaces share their names: a space named as a person would hold that person's documents.
    if exists (select from auth.users u where u.id = new.id) then
      raise exception using errcode = '23505', message = 'Another space already has this id.';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('spaces ' || new.created_by, 0));
    if (select count(*) from public.space_members m where m.user_id = new.created_by and m.role = 'owner') >= 200 then
      raise exception using errcode = 'PT409', message = 'You own 200 spaces. Delete one first.';
    end if;
  elsif new.archived_at is distinct from old.archived_at
    and auth.uid() is not null and not old.id = any (public.spaces_to('own'))
  then
    raise exception using errcode = '42501', message = 'Only an owner archives a space.';
  end if;
  new.name := btrim(new.name);
  return new;
end
$$;
create trigger tg_spaces__guard before insert or update on spaces for each row execute function tg_spaces__guard();

create function tg_spaces__follow() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform public.record_space_event(new.id, 'created', null, '{}');
    if new.created_by is not null then
      insert into public.space_members (space_id, user_id, role) values (new.id, new.created_by, 'owner');
    end if;
    return null;
  end if;
  if new.archived_at is distinct from old.archived_at then
    perform public.record_space_event(
      new.id, case when new.archived_at is null then 'restored' else 'archived' end, null, '{}'
    );
  end if;
  if (new.name, new.instructions, new.color, new.default_model) is distinct from
    (old.name, old.instructions, old.color, old.default_model)
  then
    perform public.record_space_event(new.id, 'changed', null, jsonb_build_object(
      'name', case when new.name <> old.name then new.name end,
      'instructions', new.instructions <> old.instructions
    ));
  end if;
  return null;
end
$$;
create trigger tg_spaces__follow after insert or update on spaces for each row execute function tg_spaces__follow();

-- A space is never without an owner, unless it or the last account in it is being deleted.
create function tg_space_members__guard() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if old.role <> 'owner' or (tg_op = 'UPDATE' and new.role = 'owner') then
    return coalesce(new, old);
  end if;
  -- One change of owners after another.
  perform from public.spaces s where s.id = old.space_id for no key update;
  if not found or not exists (select from auth.users u where u.id = old.user_id) then
    return coalesce(new, old);
  end if;
  if not exists (
    select from public.space_members m where m.space_id = old.space_id and m.user_id <> old.user_id and m.role = 'owner'
  ) then
    raise exception using errcode = 'PT409',
      message = 'A space needs an owner. Make another member its owner first, or delete the space.';
  end if;
  return coalesce(new, old);
end
$$;
create trigger tg_space_members__guard before update or delete on space_members
  for each row execute function tg_space_members__guard();

create function tg_space_members__follow() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  stopped record;
begin
  if tg_op = 'INSERT' then
    -- Its first member has made it.
    if exists (select from public.space_members m where m.space_id = new.space_id and m.user_id <> new.user_id) then
      perform public.record_space_event(new.space_id, 'joined', new.user_id, jsonb_build_object('role', new.role));
    end if;
    return null;
  end if;
  perform public.announce_access_change(old.user_id, null);
  -- Invitations end with the role of the owner who was removed, since they may lead to another address of the same person.
  -- Those of owners who leave, or whose account ends, stay.
  if old.role = 'owner' and (tg_op = 'DELETE' or new.role <> 'owner') and old.user_id is distinct from auth.uid()
    and exists (select from auth.users u where u.id = old.user_id)
  then
    delete from public.space_invitations i where i.space_id = old.space_id and i.invited_by = old.user_id;
  end if;
  if tg_op = 'DELETE' or new.role = 'reader' then
    delete from public.share_links l using public.conversations c
    where c.id = l.conversation_id and c.space_id = old.space_id and l.created_by = old.user_id;
  end if;
  if tg_op = 'UPDATE' then
    if new.role <> old.role then
      perform public.record_space_event(
        old.space_id, 'role_changed', old.user_id, jsonb_build_object('from', old.role, 'to', new.role)
      );
    end if;
    return null;
  end if;
  perform public.record_space_event(
    old.space_id, case when old.user_id = auth.uid() then 'left' else 'removed' end, old.user_id, '{}'
  );
  -- Answers with the rights of a former member end.
  for stopped in
    update public.replies r set stop_requested = true
    from public.conversations c
    where c.id = r.conversation_id and c.space_id = old.space_id and r.owner = old.user_id and r.state in ('queued', 'running')
    returning r.id
  loop
    perform pg_notify('reply_stop', stopped.id::text);
  end loop;
  return null;
end
$$;
create trigger tg_space_members__follow after insert or update or delete on space_members
  for each row execute function tg_space_members__follow();

-- With an account: its spaces without other members are deleted, and others get a new owner, the longest-standing editor first.
create function tg_users__leave_spaces() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- One account after another, so that each sees who is left.
  perform from public.spaces s
  where s.id in (select m.space_id from public.space_members m where m.user_id = old.id) order by s.id for no key update;
  delete from public.spaces s
  where s.id in (select m.space_id from public.space_members m where m.user_id = old.id)
    and not exists (select from public.space_members m where m.space_id = s.id and m.user_id <> old.id);
  update public.space_members m set role = 'owner'
  from (
    select distinct on (o.space_id) o.space_id, o.user_id
    from public.space_members mine
    join public.space_members o on o.space_id = mine.space_id and o.user_id <> old.id
    where mine.user_id = old.id and mine.role = 'owner'
      and not exists (
        select from public.space_members w where w.space_id = mine.space_id and w.user_id <> old.id and w.role = 'owner'
      )
    order by o.space_id, o.role = 'editor' desc, o.added_at, o.user_id
  ) heir
  where m.space_id = heir.space_id and m.user_id = heir.user_id;
  -- Answers that are complete stay with their conversation; others end with the account, by their foreign key.
  update public.replies r set owner = null
  from public.conversations c
  where c.id = r.conversation_id and (c.is_shared or c.uid <> old.id) and r.owner = old.id and r.state not in ('queued', 'running');
  update public.conversations set uid = null where uid = old.id and is_shared;
  update public.documents set owner = null where owner = old.id and space_id is not null;
  return old;
end
$$;
create trigger tg_users__leave_spaces before delete on auth.users
  for each row execute function tg_users__leave_spaces();

-- The name that others see of an account; null without one and without an address.
create function display_name(metadata jsonb, email text) returns text
  language sql immutable parallel safe set search_path = ''
as $$
  select coalesce(
    nullif(btrim(left(metadata ->> 'full_name', 200)), ''),
    nullif(btrim(left(metadata ->> 'name', 200)), ''),
    email
  )
$$;
revoke execute on function display_name(jsonb, text) from public;

-- Names of the members of a space that the caller is in.
create function space_people(space uuid) returns table (user_id uuid, name text, email text, role text, added_at timestamptz)
  language sql stable security definer set search_path = ''
as $$
  select m.user_id,
    public.display_name(u.raw_user_meta_data, u.email),
    u.email::text, m.role, m.added_at
  from public.space_members m join auth.users u on u.id = m.user_id
  where m.space_id = space and space = any (public.spaces_to('read'))
  order by m.added_at, m.user_id
$$;
revoke execute on function space_people(uuid) from public;
grant execute on function space_people(uuid) to authenticated;

-- Invites an address, or changes the role of its invitation. Null if the address belongs to a member already.
create function invite_to_space(space uuid, address text, given_role text) returns uuid
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  invited uuid;
begin
  if not space = any (public.spaces_to('own')) then
    if space = any (public.spaces_to('read')) then
      raise exception using errcode = '42501', message = 'Only an owner invites people to a space.';
    end if;
    raise exception using errcode = 'PT404', message = 'There is no such space.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('space_invitations ' || space, 0));
  delete from public.space_invitations i where i.space_id = space and i.expires_at <= now();
  if (select count(*) from public.space_invitations i where i.space_id = space) >= 500 then
    raise exception using errcode = 'PT409', message = '500 invitations to this space are open. Withdraw one first.';
  end if;
  if exists (
    select from public.space_members m join auth.users u on u.id = m.user_id
    where m.space_id = space and lower(u.email) = lower(btrim(address)) and u.email_confirmed_at is not null
  ) then
    return null;
  end if;
  insert into public.space_invitations as i (space_id, email, role, invited_by)
  values (space, lower(btrim(address)), given_role, auth.uid())
  on conflict (space_id, email) do update
  set role = excluded.role, invited_by = excluded.invited_by, created_at = now(), expires_at = excluded.expires_at
  returning i.id into invited;
  perform public.record_space_event(space, 'invited', null, jsonb_build_object('email', lower(btrim(address)), 'role', given_role));
  return invited;
end
$$;
revoke execute on function invite_to_space(uuid, text, text) from public;
grant execute on function invite_to_space(uuid, text, text) to authenticated;

-- Ends an invitation to the caller's confirmed address; an accepted one makes the caller a member, with the higher role of two.
create function answer_invitation(invitation uuid, accepted boolean) returns uuid
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  found_invitation public.space_invitations;
begin
  delete from public.space_invitations i
  where i.id = invitation and i.email = public.confirmed_email() and i.expires_at > now()
  returning * into found_invitation;
  if not found then
    raise exception using errcode = 'PT404', message = 'There is no such invitation, or it has ended.';
  end if;
  if not accepted then
    perform public.record_space_event(
      found_invitation.space_id, 'declined', null, jsonb_build_object('email', found_invitation.email)
    );
    return found_invitation.space_id;
  end if;
  insert into public.space_members as m (space_id, user_id, role)
  values (found_invitation.space_id, auth.uid(), found_invitation.role)
  on conflict (space_id, user_id) do update set role = excluded.role
  where array_position(array['reader', 'editor', 'owner'], excluded.role) > array_position(array['reader', 'editor', 'owner'], m.role);
  return found_invitation.space_id;
end
$$;
revoke execute on function answer_invitation(uuid, boolean) from public;
grant execute on function answer_invitation(uuid, boolean) to authenticated;

alter publication supabase_realtime add table spaces;
alter publication supabase_realtime add table space_members;
alter publication supabase_realtime add table space_invitations;
