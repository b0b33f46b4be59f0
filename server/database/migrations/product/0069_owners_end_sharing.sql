-- Ends the sharing of a conversation, for its author and the owners of its space. An update by an owner would be refused,
-- since the owner may not read the row that it leaves.
create function unshare_conversation(conversation uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  me uuid := auth.uid();
  shared public.conversations;
begin
  select * into shared from public.conversations c
  where c.id = conversation and (c.uid = me or c.is_shared) and c.space_id = any (public.spaces_to('read'))
  for update;
  if not found or not public.hold_space_right(me, shared.space_id, 'read') then
    raise exception using errcode = 'PT404', message = 'There is no such conversation.';
  end if;
  if shared.uid is distinct from me and not public.hold_space_right(me, shared.space_id, 'own') then
    raise exception using errcode = '42501', message = 'Only the author or an owner of the space ends the sharing.';
  end if;
  if shared.uid is null then
    raise exception using errcode = 'PT409',
      message = 'The account of its author is deleted, so that without sharing no person would see it. Delete the conversation instead.';
  end if;
  update public.conversations set is_shared = false where id = shared.id and is_shared;
end
$$;
revoke execute on function unshare_conversation(uuid) from public;
grant execute on function unshare_conversation(uuid) to authenticated;
