-- Whether a person has a right in a space, as `spaces_to` knows them. If so, it lasts until the end of the transaction: who
-- removes the person, changes the role, archives or deletes the space waits for it.
create function hold_space_right(person uuid, space uuid, wanted text) returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform from public.spaces s where s.id = space and (wanted in ('read', 'own') or s.archived_at is null) for share;
  if not found then
    return false;
  end if;
  perform from public.space_members m
  where m.space_id = space and m.user_id = person
    and case wanted
      when 'own' then m.role = 'owner'
      when 'edit' then m.role in ('owner', 'editor')
      else wanted in ('read', 'ask')
    end
  for share;
  return found;
end
$$;
revoke execute on function hold_space_right(uuid, uuid, text) from public;
grant execute on function hold_space_right(uuid, uuid, text) to service_role;

-- For a caller who puts something into a space. Null: the caller's own library.
create function require_target(space uuid, wanted text, refusal text) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if space is null or public.hold_space_right(auth.uid(), space, wanted) then
    return;
  end if;
  if not space = any (public.spaces_to('read')) then
    raise exception using errcode = 'PT404', message = 'There is no such space.';
  end if;
  if exists (select from public.spaces s where s.id = space and s.archived_at is not null) then
    raise exception using errcode = '42501', message = 'This space is archived: nothing is added to it any more.';
  end if;
  raise exception using errcode = '42501', message = refusal;
end
$$;
revoke execute on function require_target(uuid, text, text) from public;

-- Documents that were copied share their bytes. These are discarded with the last document that names them.
create index documents_path_idx on documents (path);
create or replace function tg_documents__discard_blob() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if exists (select from public.documents d where d.path = old.path) then
    -- One after another: two transactions that delete the last two documents each see that of the other.
    perform pg_advisory_xact_lock(hashtextextended('shared blobs', 0));
    if exists (select from public.documents d where d.path = old.path) then
      return old;
    end if;
  end if;
  insert into public.discarded_blobs (path) values (old.path) on conflict do nothing;
  return old;
end
$$;

-- Copies the newest version of a document that is not being read into a space, or with null into the caller's own library.
-- Pages are copied, bytes are shared; the copy is indexed from its pages.
create function copy_document(document uuid, target uuid) returns uuid
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  me uuid := auth.uid();
  named public.documents;
  original public.documents;
  copy uuid := gen_random_uuid();
begin
  select * into named from public.documents d where d.id = document and d.library = any (public.libraries_to('read'));
  if not found then
    raise exception using errcode = 'PT404', message = 'There is no such document.';
  end if;
  -- No deletion and no move meanwhile; the bytes stay until the copy names them too.
  select * into original from public.documents d
  where d.series = named.series and d.library = named.library and d.state in ('ready', 'failed')
  order by d.superseded_at is null desc, d.state = 'ready' desc, d.version desc limit 1 for share;
  if not found then
    raise exception using errcode = 'PT409', message = 'The document is still being read. Copy it when it is ready.';
  end if;
  if not (
    case when original.space_id is null then original.library = me
      else public.hold_space_right(me, original.space_id, 'edit') end
  ) then
    raise exception using errcode = '42501', message = 'Only owners and editors copy a document out of a space.';
  end if;
  perform public.require_target(target, 'edit', 'Only owners and editors copy a document into a space.');
  insert into public.documents (
    id, owner, space_id, filename, folder, originalname, mimetype, size, path, sha256, state, pages, pages_done, error, readability
  )
  values (
    copy, me, target, original.filename, original.folder, original.originalname, original.mimetype, original.size,
    original.path, original.sha256, original.state, original.pages, original.pages_done, original.error, original.readability
  )
  on conflict (library, sha256) do nothing;
  if not found then
    raise exception using errcode = 'PT409', message = 'The same file is there already.';
  end if;
  -- Recognised before, which is counted once.
  perform set_config('alcove.copies_pages', 'on', true);
  insert into public.document_pages (
    document_id, owner, page, text, items, headings, rows, boxes, confidence, is_cut, blocks, gap, columns
  )
  select copy, coalesce(target, me), p.page, p.text, p.items, p.headings, p.rows, p.boxes, p.confidence, p.is_cut, p.blocks, p.gap,
    p.columns
  from public.document_pages p where p.document_id = original.id;
  perform set_config('alcove.copies_pages', 'off', true);
  -- Its pages are measured and counted with this.
  update public.documents d set parsed_at = original.parsed_at where d.id = copy;
  perform public.record_space_event(
    original.space_id, 'document_copied_out', original.id, jsonb_build_object('name', original.filename)
  );
  perform public.record_space_event(target, 'document_copied_in', copy, jsonb_build_object('name', original.filename));
  return copy;
end
$$;
revoke execute on function copy_document(uuid, uuid) from public;
grant execute on function copy_document(uuid, uuid) to authenticated;

-- Copies a conversation of the caller with its messages into a space, or with null out of it. The copy is not shared.
create function copy_conversation(conversation uuid, target uuid) returns uuid
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  me uuid := auth.uid();
  original public.conversations;
  copy uuid := gen_random_uuid();
begin
  select * into original from public.conversations c
  where c.id = conversation and (c.uid = me or c.is_shared)
    and (c.space_id is null or c.space_id = any (public.spaces_to('read'))) for update;
  if not found or not (original.space_id is null or public.hold_space_right(me, original.space_id, 'read')) then
    raise exception using errcode = 'PT404', message = 'There is no such conversation.';
  end if;
  if original.uid is distinct from me then
    raise exception using errcode = '42501', message = 'Only the person who began a conversation copies it.';
  end if;
  perform public.require_target(target, 'ask', 'Only members add conversations to a space.');
  if exists (select from public.replies r where r.conversation_id = original.id and r.state in ('queued', 'running')) then
    raise exception using errcode = 'PT409', message = 'An answer is being written. Copy the conversation when it is complete.';
  end if;
  insert into public.conversations (id, uid, title, model_name, ended_at, metadata, space_id)
  values (
    copy, me, original.title, original.model_name, original.ended_at,
    coalesce(case jsonb_typeof(original.metadata) when 'object' then original.metadata - '{branched_from,branched_at}'::text[] end, '{}')
      || jsonb_build_object('copied_from', original.id),
    target
  );
  -- Copies count as answered, so that an answer of the copy can be rewritten.
  perform set_config('alcove.copies_answered', 'on', true);
  with shared as materialized (
    select m.*, gen_random_uuid() as copy_id from public.messages m where m.conversation_id = original.id
  ), copied as (
    insert into public.messages (id, conversation_id, content, sender_role, token_in, token_out, created_at, metadata, author)
    select copy_id, copy, content, sender_role, token_in, token_out, created_at,
      case jsonb_typeof(metadata) when 'object' then metadata - '{version,attempt,rewrite_error}'::text[] else metadata end,
      case when sender_role = 1 then coalesce(author, case when original.space_id is null then me end) end
    from shared order by position
  )
  insert into public.replies (message_id, answer_id, conversation_id, owner, state, finished_at)
  select question.copy_id, answer.copy_id, copy, me, 'done', now()
  from public.replies r
  join shared question on question.id = r.message_id
  join shared answer on answer.id = r.answer_id;
  perform set_config('alcove.copies_answered', 'off', true);
  perform public.record_space_event(original.space_id, 'conversation_copied_out', original.id, '{}');
  perform public.record_space_event(target, 'conversation_copied_in', copy, '{}');
  return copy;
end
$$;
revoke execute on function copy_conversation(uuid, uuid) from public;
grant execute on function copy_conversation(uuid, uuid) to authenticated;

-- As before, and a right that ends at the same time is noticed.
create or replace function move_document(document uuid, target uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  me uuid := auth.uid();
  moved public.documents;
  destination uuid := coalesce(target, me);
  bytes bigint;
begin
  select * into moved from public.documents d where d.id = document and d.library = any (public.libraries_to('read'));
  if not found then
    raise exception using errcode = 'PT404', message = 'There is no such document.';
  end if;
  if not (
    case when moved.space_id is null then moved.library = me else public.hold_space_right(me, moved.space_id, 'edit') end
  ) then
    raise exception using errcode = '42501', message = 'Only owners and editors move a document out of a space.';
  end if;
  perform public.require_target(target, 'edit', 'Only owners and editors move a document into a space.');
  if moved.library = destination then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(moved.series::text, 0));
  perform from public.documents d where d.series = moved.series and d.library = moved.library order by d.id for update;
  if not found then
    raise exception using errcode = 'PT409', message = 'The document was moved or deleted at the same time.';
  end if;
  if exists (
    select from public.documents d join public.documents there on there.sha256 = d.sha256
    where d.series = moved.series and d.library = moved.library and there.library = destination
  ) then
    raise exception using errcode = 'PT409', message = 'The same file is there already.';
  end if;
  if exists (
    select from public.documents d where d.series = moved.series and d.library = moved.library and d.state in ('queued', 'reading')
  ) then
    raise exception using errcode = 'PT409', message = 'The document is still being read. Move it when it is ready.';
  end if;
  delete from public.document_index i using public.documents d
    where d.series = moved.series and d.library = moved.library and i.document_id = d.id;
  delete from public.passages p using public.documents d
    where d.series = moved.series and d.library = moved.library and p.document_id = d.id;
  update public.document_pages p set owner = destination from public.documents d
    where d.series = moved.series and d.library = moved.library and p.document_id = d.id;
  select sum(public.file_size(d.size) + d.page_bytes) into bytes
    from public.documents d where d.series = moved.series and d.library = moved.library;
  -- A file of the bucket `documents` belongs to its uploader; the copy in a library no longer ends with it.
  update public.documents d
    set space_id = target, owner = case when target is null then me else d.owner end, object_name = null
    where d.series = moved.series and d.library = moved.library;
  perform public.count_usage(moved.library, -bytes, 0);
  perform public.count_usage(destination, bytes, 0);
  perform public.tell_space(moved.space_id, jsonb_build_object('document', moved.id));
  perform public.record_space_event(moved.space_id, 'document_moved_out', moved.id, jsonb_build_object('name', moved.filename));
  perform public.record_space_event(target, 'document_moved_in', moved.id, jsonb_build_object('name', moved.filename));
end
$$;

create or replace function move_conversation(conversation uuid, target uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  me uuid := auth.uid();
  moved public.conversations;
begin
  select * into moved from public.conversations c
  where c.id = conversation and (c.uid = me or c.is_shared)
    and (c.space_id is null or c.space_id = any (public.spaces_to('read'))) for update;
  if not found or not (moved.space_id is null or public.hold_space_right(me, moved.space_id, 'read')) then
    raise exception using errcode = 'PT404', message = 'There is no such conversation.';
  end if;
  if moved.uid is distinct from me then
    raise exception using errcode = '42501', message = 'Only the person who began a conversation moves it.';
  end if;
  perform public.require_target(target, 'ask', 'Only members add conversations to a space.');
  if moved.space_id is not distinct from target then
    return;
  end if;
  if exists (select from public.replies r where r.conversation_id = moved.id and r.state in ('queued', 'running')) then
    raise exception using errcode = 'PT409', message = 'An answer is being written. Move the conversation when it is complete.';
  end if;
  if moved.space_id is null then
    update public.messages set author = me where conversation_id = moved.id and sender_role = 1 and author is null;
  end if;
  update public.conversations set space_id = target, is_shared = false where id = moved.id;
  perform public.record_space_event(moved.space_id, 'conversation_moved_out', moved.id, '{}');
  perform public.record_space_event(target, 'conversation_moved_in', moved.id, '{}');
end
$$;
