-- Links are made by this function alone, which draws the token, so that none is weak. A server of the version before makes
-- none on this schema.
create function create_link(conversation uuid, days integer, anybody boolean)
  returns table (id uuid, token text, expires_at timestamptz)
  language plpgsql volatile security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  me uuid := auth.uid();
  linked public.conversations;
  drawn text := translate(
    encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'), '+/=', '-_'
  );
begin
  select * into linked from public.conversations c
  where c.id = conversation and (c.uid = me or c.is_shared)
    and (c.space_id is null or c.space_id = any (public.spaces_to('read')))
  for share;
  if not found then
    raise exception using errcode = 'PT404', message = 'There is no such conversation.';
  end if;
  if exists (select from public.spaces s where s.id = linked.space_id and s.archived_at is not null) then
    raise exception using errcode = '42501', message = 'This space is archived: no links are made in it any more.';
  end if;
  if not (linked.space_id is null or public.hold_space_right(me, linked.space_id, 'edit')) then
    raise exception using errcode = '42501', message = 'Only owners and editors of its space link to a conversation.';
  end if;
  if days is null or days not between 1 and 365 then
    raise exception using errcode = '22023', message = 'A link lasts from 1 to 365 days.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('share_links ' || conversation, 0));
  if (select count(*) from public.share_links l where l.conversation_id = conversation and l.expires_at > now()) >= 20 then
    raise exception using errcode = 'PT409', message = '20 links to this conversation are open. Revoke one first.';
  end if;
  return query insert into public.share_links as l (conversation_id, created_by, token_hash, for_anybody, expires_at)
    values (
      conversation, me, sha256(convert_to(drawn, 'utf8')), coalesce(anybody, false), now() + make_interval(days => days)
    )
    returning l.id, drawn, l.expires_at;
end
$$;
revoke execute on function create_link(uuid, integer, boolean) from public;
grant execute on function create_link(uuid, integer, boolean) to authenticated;
drop policy "links are made by who may link to the conversation" on share_links;
revoke insert on share_links from authenticated;
revoke insert (conversation_id, token_hash, for_anybody, expires_at) on share_links from authenticated;

-- The author of a conversation withdraws links that others made to it.
drop policy "links are listed by who may make them" on share_links;
create policy "links are listed by who may make them, and by the author" on share_links for select to authenticated
  using (exists (
    select from conversations c where c.id = conversation_id and (c.uid = (select auth.uid()) or may_link(conversation_id))
  ));
drop policy "links are revoked by who may make them" on share_links;
create policy "links are revoked by who may make them, and by the author" on share_links for delete to authenticated
  using (exists (
    select from conversations c where c.id = conversation_id and (c.uid = (select auth.uid()) or may_link(conversation_id))
  ));

-- In an archived space, authors only withdraw their conversations from the others.
drop policy "author changes a conversation, where it may still ask" on conversations;
create policy "author changes a conversation" on conversations for update to authenticated
  using (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('read'))::uuid[])))
  with check (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('read'))::uuid[])));
create function tg_conversations__guard_archived() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if current_user = 'authenticated'
    and not (not new.is_shared and to_jsonb(new) - 'is_shared' = to_jsonb(old) - 'is_shared')
    and not new.space_id = any (public.spaces_to('ask'))
  then
    raise exception using errcode = '42501', message = 'This space is archived: nothing is changed in it any more.';
  end if;
  return new;
end
$$;
create trigger tg_conversations__guard_archived before update on conversations for each row
  when (new.space_id is not null) execute function tg_conversations__guard_archived();

-- Deletes a space of the caller with everything in it. What is deleted is counted in the same transaction, for the receipt.
create function delete_space(space uuid) returns table (name text, removed jsonb)
  language plpgsql volatile security definer set search_path = ''
as $$
#variable_conflict use_column
declare
  deleted public.spaces;
  counts jsonb;
begin
  if not space = any (public.spaces_to('own')) then
    if space = any (public.spaces_to('read')) then
      raise exception using errcode = '42501', message = 'Only an owner deletes a space.';
    end if;
    raise exception using errcode = 'PT404', message = 'There is no such space.';
  end if;
  -- Rows of the space name it by their foreign keys, so that none is added after the count.
  select * into deleted from public.spaces s where s.id = space for update;
  if not found or not exists (
    select from public.space_members m where m.space_id = space and m.user_id = auth.uid() and m.role = 'owner'
  ) then
    raise exception using errcode = 'PT404', message = 'There is no such space.';
  end if;
  select jsonb_build_object(
    'conversations', (select count(*) from public.conversations c where c.space_id = space),
    'messages', (select count(*) from public.messages m join public.conversations c on c.id = m.conversation_id
      where c.space_id = space),
    'documents', (select count(*) from public.documents d where d.space_id = space),
    'document_bytes', (select coalesce(sum(d.size::bigint), 0) from public.documents d where d.space_id = space),
    'members', (select count(*) from public.space_members m where m.space_id = space),
    'invitations', (select count(*) from public.space_invitations i where i.space_id = space),
    'links', (select count(*) from public.share_links l join public.conversations c on c.id = l.conversation_id
      where c.space_id = space),
    'keys', (select count(*) from public.space_providers p where p.space_id = space),
    'events', (select count(*) from public.space_events e where e.space_id = space)
  ) into counts;
  delete from public.spaces s where s.id = space;
  return query select deleted.name, counts;
end
$$;
revoke execute on function delete_space(uuid) from public;
grant execute on function delete_space(uuid) to authenticated;
