-- While an account is disabled, its links open nothing and its invitations cannot be answered. One read of a link holds 8 MiB
-- at most, or one message: people without an account may read it.
create function is_disabled(person uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$ select exists (select from auth.users u where u.id = person and u.banned_until > now()) $$;
revoke execute on function is_disabled(uuid) from public;

drop function open_link(bytea, bigint, integer);
create function open_link(hash bytea, after_position bigint, most integer)
  returns table (title text, for_anybody boolean, expires_at timestamptz, messages jsonb, has_more boolean)
  language sql stable security definer set search_path = ''
as $$
  select left(c.title, 500), l.for_anybody, l.expires_at, page.messages, page.has_more
  from public.share_links l join public.conversations c on c.id = l.conversation_id
  cross join (select least(greatest(coalesce($3, 200), 1), 200) as most) bounds
  cross join lateral (
    select
      coalesce(jsonb_agg(jsonb_build_object(
        'id', m.id, 'sender_role', m.sender_role, 'content', m.content, 'created_at', m.created_at, 'position', m.position,
        'sources', m.metadata -> 'sources'
      ) order by m.position) filter (where m.number = 1 or m.number <= bounds.most and m.bytes <= 8388608), '[]') as messages,
      coalesce(bool_or(m.number > 1 and (m.number > bounds.most or m.bytes > 8388608)), false) as has_more
    from (
      select m.id, m.sender_role, m.content, m.created_at, m.position, m.metadata,
        row_number() over in_order as number,
        sum(public.text_size(m.content) + public.json_size(m.metadata)) over in_order as bytes
      from public.messages m
      where m.conversation_id = c.id and m.sender_role in (1, 2) and m.position > after_position
      window in_order as (order by m.position rows unbounded preceding)
      order by m.position limit bounds.most + 1
    ) m
  ) page
  where l.token_hash = hash and l.expires_at > now() and public.has_right_to_link(l.created_by, c.id)
    and not public.is_disabled(l.created_by)
$$;
revoke execute on function open_link(bytea, bigint, integer) from public;
grant execute on function open_link(bytea, bigint, integer) to authenticated, service_role;

create or replace function answer_invitation(invitation uuid, accepted boolean) returns uuid
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  found_invitation public.space_invitations;
begin
  delete from public.space_invitations i
  where i.id = invitation and i.email = public.confirmed_email() and i.expires_at > now()
    and not (accepted and public.is_disabled(i.invited_by))
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

-- A space retains its newest 20,000 events: no quota counts them, and members cause any number of them.
create or replace function record_space_event(space uuid, kind text, subject uuid, detail jsonb) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.space_events (space_id, actor, kind, subject, detail)
  select s.id, (select u.id from auth.users u where u.id = auth.uid()), kind, subject, detail
  from public.spaces s where s.id = space;
  -- Several are deleted together, so that most events cost only the look at the index.
  if exists (select from public.space_events e where e.space_id = space order by e.id desc offset 20099) then
    delete from public.space_events e where e.id in (
      select o.id from public.space_events o
      where o.space_id = space and o.id <= (
        select n.id from public.space_events n where n.space_id = space order by n.id desc offset 20000 limit 1
      )
      order by o.id limit 5000 for update skip locked
    );
  end if;
end
$$;
