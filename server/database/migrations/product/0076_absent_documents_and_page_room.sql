-- Returns why the caller cannot open a document that an answer cites: it is in a 'space' that the caller is not in, among the own
-- documents of another 'person', or 'deleted'. Null where the caller may read the document, and where no answer that the caller
-- may read cites it, so that ids alone tell nothing. Only the service writes answers and their sources.
create function absence_of_document(document uuid, message uuid) returns text
  language sql stable security definer set search_path = ''
as $$
  select case
    when d.id is null then 'deleted'
    when d.library = auth.uid() or d.library = any (public.spaces_to('read')) then null
    when d.space_id is null then 'person'
    else 'space'
  end
  from public.messages m
  join public.conversations c on c.id = m.conversation_id
  left join public.documents d on d.id = document
  where m.id = message and m.sender_role = 2
    and m.metadata -> 'sources' @> jsonb_build_array(jsonb_build_object('documentId', document))
    and (c.uid = auth.uid() or c.is_shared)
    and (c.space_id is null or c.space_id = any (public.spaces_to('read')))
$$;
revoke execute on function absence_of_document(uuid, uuid) from public;
grant execute on function absence_of_document(uuid, uuid) to authenticated;

-- Refuses the recognition of pages before the first one, so that a file above the limit takes none of the day's. The pages
-- are counted when they are stored, under a lock.
create function require_page_room(document uuid, wanted bigint) returns void
  language plpgsql stable security definer set search_path = ''
as $$
declare
  allowed public.quotas;
  person uuid;
  used record;
begin
  select d.owner into person from public.documents d where d.id = document;
  -- Pages of a deleted account's documents are not counted, nor those that were recognised before.
  if person is null or wanted <= 0 then
    return;
  end if;
  select * into allowed from public.quotas;
  if allowed.pages_per_person > 0 then
    used := public.usage_since(person, public.utc_today());
    if used.pages + wanted > allowed.pages_per_person then
      perform public.refuse_use('pages', used.pages, allowed.pages_per_person);
    end if;
  end if;
  if allowed.pages_total > 0 then
    used := public.usage_since(null, public.utc_today());
    if used.pages + wanted > allowed.pages_total then
      perform public.refuse_use('all pages', used.pages, allowed.pages_total);
    end if;
  end if;
end
$$;
revoke execute on function require_page_room(uuid, bigint) from public;
grant execute on function require_page_room(uuid, bigint) to service_role;
