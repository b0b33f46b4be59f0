-- Conversations and documents of spaces. Rows without a space are personal, as all rows were before.
alter table conversations add column space_id uuid references spaces (id) on delete cascade;
alter table conversations add column is_shared boolean not null default false;
alter table conversations add constraint conversations_shared_check check (not is_shared or space_id is not null);
-- The account of the author of a shared conversation may be gone.
alter table conversations alter column uid drop not null;
alter table conversations add constraint conversations_uid_check check (uid is not null or is_shared);
create index conversations_space_id_idx on conversations (space_id, started_at desc) where space_id is not null;

-- The person who asked. Null: an answer, an account that is gone, or in a personal conversation its owner.
alter table messages add column author uuid references auth.users (id) on delete set null;
alter table messages alter column author set default auth.uid();
create index messages_author_idx on messages (author) where author is not null;

-- The account of the person who asked may be gone. Null for complete answers only.
alter table replies alter column owner drop not null;
alter table replies add constraint replies_owner_check check (owner is not null or state not in ('queued', 'running'));

alter table documents add column space_id uuid references spaces (id) on delete cascade;
alter table documents alter column owner drop not null;
alter table documents add constraint documents_owner_check check (owner is not null or space_id is not null);
alter table documents add column library uuid generated always as (coalesce(space_id, owner)) stored;
-- Publications leave generated columns out, and the page follows the documents of a library.
alter table documents alter column library drop expression;
alter table documents alter column library set not null;
create function tg_documents__name_library() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.library := coalesce(new.space_id, new.owner);
  return new;
end
$$;
create trigger tg_documents__name_library before insert or update of owner, space_id, library on documents
  for each row execute function tg_documents__name_library();
alter table documents drop constraint documents_owner_sha256_key;
alter table documents add constraint documents_library_sha256_key unique (library, sha256);
create index documents_library_uploaded_at_idx on documents (library, uploaded_at desc);
create index documents_space_id_idx on documents (space_id) where space_id is not null;
drop index documents_paused_idx;
create index documents_paused_idx on documents (library) where state = 'paused';

-- The owner of an index is a library (`libraries_to`). Rows of documents end with these, and segments with their last document.
alter table document_pages drop constraint document_pages_owner_fkey;
alter table search_segments drop constraint search_segments_owner_fkey;
alter table passage_vectors drop constraint passage_vectors_owner_fkey;
alter table embedded_documents drop constraint embedded_documents_owner_fkey;
alter table vector_usage drop constraint vector_usage_owner_fkey;

alter table message_texts add column space_id uuid;
alter table message_texts add column is_shared boolean not null default false;
alter table message_texts alter column owner drop not null;
create index message_texts_space_id_idx on message_texts (space_id, position desc) where space_id is not null;

drop policy "owner reads own conversations" on conversations;
create policy "author and, once shared, members read a conversation" on conversations for select to authenticated
  using (
    (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('read'))::uuid[])))
    or (is_shared and space_id = any ((select spaces_to('read'))::uuid[]))
  );
drop policy "owner creates own conversations" on conversations;
create policy "owner creates own conversations" on conversations for insert to authenticated
  with check (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('ask'))::uuid[])));
drop policy "owner changes own conversations" on conversations;
create policy "author changes a conversation, where it may still ask" on conversations for update to authenticated
  using (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('ask'))::uuid[])))
  with check (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('ask'))::uuid[])));
drop policy "owner deletes own conversations" on conversations;
create policy "author, and for shared ones the owners of a space, delete a conversation" on conversations for delete to authenticated
  using (
    (uid = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('read'))::uuid[])))
    or (is_shared and space_id = any ((select spaces_to('own'))::uuid[]))
  );
grant insert (space_id, is_shared), update (is_shared) on conversations to authenticated;

-- Whether the caller may ask in a conversation: its author, and in shared ones owners and editors.
create function may_ask_in(conversation uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select exists (
    select from public.conversations c
    where c.id = conversation
      and case
        when c.space_id is null then c.uid = (select auth.uid())
        when c.uid = (select auth.uid()) then c.space_id = any ((select public.spaces_to('ask'))::uuid[])
        else c.is_shared and c.space_id = any ((select public.spaces_to('edit'))::uuid[])
      end
  )
$$;
revoke execute on function may_ask_in(uuid) from public;
grant execute on function may_ask_in(uuid) to authenticated;

drop policy "owner reads messages of own conversations" on messages;
create policy "messages are read with their conversation" on messages for select to authenticated
  using (exists (select from conversations c where c.id = conversation_id));
drop policy "owner asks in own conversations" on messages;
create policy "author and, in shared conversations, editors ask" on messages for insert to authenticated
  with check (sender_role = 1 and author = (select auth.uid()) and may_ask_in(conversation_id));
grant insert (author) on messages to authenticated;

drop policy "owner reads summaries of own conversations" on conversation_summaries;
create policy "summaries are read with their conversation" on conversation_summaries for select to authenticated
  using (exists (select from conversations c where c.id = conversation_id));

drop policy "owner searches own messages" on message_texts;
create policy "texts of messages are searched by who reads their conversation" on message_texts for select to authenticated
  using (
    (owner = (select auth.uid()) and (space_id is null or space_id = any ((select spaces_to('read'))::uuid[])))
    or (is_shared and space_id = any ((select spaces_to('read'))::uuid[]))
  );

drop policy "owner reads own replies" on replies;
create policy "replies are read with their conversation" on replies for select to authenticated
  using (exists (select from conversations c where c.id = conversation_id));
drop policy "owner reads parts of own replies" on reply_parts;
create policy "parts are read with their reply" on reply_parts for select to authenticated
  using (exists (select from replies r where r.id = reply_id));

drop policy "owner reads own tool requests" on tool_requests;
create policy "owner reads own tool requests" on tool_requests for select to authenticated
  using (owner = (select auth.uid()) and exists (select from conversations c where c.id = conversation_id));
drop policy "owner answers own waiting tool requests" on tool_requests;
create policy "owner answers own waiting tool requests" on tool_requests for update to authenticated
  using (owner = (select auth.uid()) and state = 'waiting' and exists (select from conversations c where c.id = conversation_id))
  with check (owner = (select auth.uid()));
drop policy "owner reads own consents" on tool_consents;
create policy "owner reads own consents" on tool_consents for select to authenticated
  using (owner = (select auth.uid()) and exists (select from conversations c where c.id = conversation_id));
drop policy "owner withdraws own consents" on tool_consents;
create policy "owner withdraws own consents" on tool_consents for delete to authenticated
  using (owner = (select auth.uid()) and exists (select from conversations c where c.id = conversation_id));
drop policy "owner consents for own conversations and servers" on tool_consents;
create policy "owner consents for readable conversations and own servers" on tool_consents for insert to authenticated
  with check (
    owner = (select auth.uid())
    and may_ask_in(conversation_id)
    and exists (select from tool_servers s where s.id = server_id and s.owner = (select auth.uid()))
  );

-- Several people may rate an answer.
alter table message_feedback drop constraint message_feedback_pkey;
alter table message_feedback add primary key (message_id, version, owner);
drop policy "owner reads own feedback" on message_feedback;
create policy "owner reads own feedback" on message_feedback for select to authenticated
  using (owner = (select auth.uid()) and exists (select from messages m where m.id = message_id));
drop policy "owner changes own feedback" on message_feedback;
create policy "owner changes own feedback" on message_feedback for update to authenticated
  using (owner = (select auth.uid()) and exists (select from messages m where m.id = message_id))
  with check (owner = (select auth.uid()));
drop policy "owner withdraws own feedback" on message_feedback;
create policy "owner withdraws own feedback" on message_feedback for delete to authenticated
  using (owner = (select auth.uid()) and exists (select from messages m where m.id = message_id));

drop policy "owner reads own documents" on documents;
create policy "documents are read in their library" on documents for select to authenticated
  using (library = any ((select libraries_to('read'))::uuid[]));
drop policy "owner renames own documents" on documents;
create policy "documents are renamed by who edits their library" on documents for update to authenticated
  using (library = any ((select libraries_to('edit'))::uuid[]))
  with check (library = any ((select libraries_to('edit'))::uuid[]));
drop policy "owner deletes own documents" on documents;
create policy "documents are deleted by who edits their library" on documents for delete to authenticated
  using (library = any ((select libraries_to('edit'))::uuid[]));

do $$
declare
  changed record;
begin
  for changed in
    select * from (values
      ('document_pages', 'owner reads pages of own documents'),
      ('document_index', 'owner reads index entries of own documents'),
      ('passages', 'owner reads passages of own documents'),
      ('search_segments', 'owner reads own segments'),
      ('search_buckets', 'owner reads own buckets'),
      ('passage_vectors', 'owner reads vectors of own passages'),
      ('embedded_documents', 'owner reads what of the own documents is embedded'),
      ('vector_usage', 'owner reads own usage of vectors')
    ) as v (relation, policy)
  loop
    execute format('drop policy %I on %I', changed.policy, changed.relation);
    execute format(
      'create policy %I on %I for select to authenticated using (owner = any ((select libraries_to(''read''))::uuid[]))',
      changed.relation || ' are read in their library', changed.relation
    );
  end loop;
end
$$;

drop policy "owner hears replies of own conversations" on realtime.messages;
create policy "replies are heard by who reads their conversation" on realtime.messages for select to authenticated
  using (
    extension = 'broadcast'
    and exists (
      select from conversations c
      where c.id = (
        select case
          when realtime.topic() ~ '^conversation:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then substr(realtime.topic(), 14)::uuid
        end
      )
    )
  );
create policy "members are present in their spaces" on realtime.messages for select to authenticated
  using (
    extension in ('broadcast', 'presence')
    and (select realtime.topic()) = any (array(select 'space:' || s from unnest((select spaces_to('read'))::uuid[]) as s))
  );
create policy "members tell their spaces that they are present" on realtime.messages for insert to authenticated
  with check (
    extension = 'presence'
    and (select realtime.topic()) = any (array(select 'space:' || s from unnest((select spaces_to('read'))::uuid[]) as s))
  );

-- The person who asks is answered with the own rights, also in the conversation of another.
create or replace function tg_messages__enqueue_reply() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  answers text := nullif(current_setting('alcove.answers', true), '');
  asker uuid;
  claimed json;
begin
  if current_setting('alcove.copies_answered', true) = 'on' then
    return null;
  end if;
  -- One question of a conversation after another, so that the next sees whether this one is being answered.
  select coalesce(new.author, c.uid) into asker from public.conversations c where c.id = new.conversation_id for no key update;
  if answers is not null
    and not exists (select from public.replies r where r.state = 'queued')
    and not exists (select from public.replies r where r.state = 'running' and r.conversation_id = new.conversation_id)
  then
    insert into public.replies as r (message_id, conversation_id, owner, state, attempt, tries, worker, lease_until)
    values (
      new.id, new.conversation_id, asker, 'running', 1, 1, substr(answers, strpos(answers, ' ') + 1),
      clock_timestamp() + make_interval(secs => split_part(answers, ' ', 1)::double precision)
    )
    returning json_build_object(
      'id', r.id, 'messageId', r.message_id, 'conversationId', r.conversation_id, 'owner', r.owner, 'answerId', r.answer_id,
      'kind', r.kind, 'modelName', r.model_name, 'attempt', r.attempt, 'tries', r.tries,
      'stopRequested', r.stop_requested,
      'hasOwnProviders', exists (select from public.own_providers o where o.owner = r.owner)
    ) into claimed;
    raise notice using errcode = 'ALCH1', message = 'claimed', detail = claimed;
    -- Room was asked about once: what else this transaction stores takes its turn in the queue.
    perform set_config('alcove.answers', '', true);
    return null;
  end if;
  insert into public.replies (message_id, conversation_id, owner) values (new.id, new.conversation_id, asker);
  if current_setting('alcove.bells', true) = 'handed' then
    raise notice using errcode = 'ALCB1', message = 'replies', detail = new.conversation_id::text;
  else
    perform pg_notify('replies', new.conversation_id::text);
  end if;
  return null;
end
$$;

create or replace function tg_messages__fold_text() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.message_texts as t (message_id, owner, position, text, space_id, is_shared)
  select new.id, c.uid, new.position, public.fold_text(new.content), c.space_id, c.is_shared
  from public.conversations c where c.id = new.conversation_id
  on conflict (message_id) do update set text = excluded.text;
  return null;
end
$$;

-- The texts, live channels and links of a conversation follow it into another space.
create function tg_conversations__move_texts() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  stopped record;
begin
  update public.message_texts t set owner = new.uid, space_id = new.space_id, is_shared = new.is_shared
  from public.messages m where m.conversation_id = new.id and t.message_id = m.id;
  if old.is_shared then
    perform public.announce_access_change(null, 'conversation:' || new.id);
  end if;
  -- Links and answers of people who may no longer link to it, or read it.
  delete from public.share_links l where l.conversation_id = new.id and not public.has_right_to_link(l.created_by, new.id);
  if old.is_shared and not new.is_shared then
    for stopped in
      update public.replies r set stop_requested = true
      where r.conversation_id = new.id and r.owner is distinct from new.uid and r.state in ('queued', 'running')
      returning r.id
    loop
      perform pg_notify('reply_stop', stopped.id::text);
    end loop;
  end if;
  if old.is_shared and (not new.is_shared or new.space_id is distinct from old.space_id) then
    perform public.tell_space(old.space_id, jsonb_build_object('conversation', new.id));
  end if;
  if new.space_id is not null and new.space_id = old.space_id and new.is_shared <> old.is_shared then
    perform public.record_space_event(
      new.space_id, case when new.is_shared then 'shared' else 'unshared' end, new.id, '{}'
    );
  end if;
  return null;
end
$$;
create trigger tg_conversations__move_texts after update on conversations for each row
  when ((old.uid, old.space_id, old.is_shared) is distinct from (new.uid, new.space_id, new.is_shared))
  execute function tg_conversations__move_texts();

create function tg_conversations__record_deletion() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform public.record_space_event(old.space_id, 'conversation_deleted', old.id, '{}');
  return null;
end
$$;
create trigger tg_conversations__record_deletion after delete on conversations for each row
  when (old.is_shared) execute function tg_conversations__record_deletion();

-- Versions of one series are in one library.
create or replace function tg_documents__delete_versions() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.documents d where d.series = old.series and d.library = old.library;
  return null;
end
$$;
create or replace function tg_documents__rename_versions() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.documents d set filename = new.filename
  where d.series = new.series and d.library = new.library and d.filename <> new.filename;
  return null;
end
$$;
create function tg_documents__record_deletion() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform public.record_space_event(old.space_id, 'document_deleted', old.id, jsonb_build_object('name', old.filename));
  return null;
end
$$;
create trigger tg_documents__record_deletion after delete on documents for each row
  when (old.space_id is not null and old.superseded_at is null) execute function tg_documents__record_deletion();

-- Moves a document with all its versions into a space, or with null into the caller's own library. It is indexed there again.
create function move_document(document uuid, target uuid) returns void
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
  if not moved.library = any (public.libraries_to('edit')) then
    raise exception using errcode = '42501', message = 'Only owners and editors move a document out of a space.';
  end if;
  if target is not null and not target = any (public.spaces_to('edit')) then
    if target = any (public.spaces_to('read')) then
      raise exception using errcode = '42501', message = 'Only owners and editors move a document into a space.';
    end if;
    raise exception using errcode = 'PT404', message = 'There is no such space.';
  end if;
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
revoke execute on function move_document(uuid, uuid) from public;
grant execute on function move_document(uuid, uuid) to authenticated;

-- Moves a conversation of the caller into a space, where it is not shared at first, or with null out of it.
create function move_conversation(conversation uuid, target uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  me uuid := auth.uid();
  moved public.conversations;
begin
  select * into moved from public.conversations c
  where c.id = conversation and (c.uid = me or c.is_shared)
    and (c.space_id is null or c.space_id = any (public.spaces_to('read'))) for update;
  if not found then
    raise exception using errcode = 'PT404', message = 'There is no such conversation.';
  end if;
  if moved.uid is distinct from me then
    raise exception using errcode = '42501', message = 'Only the person who began a conversation moves it.';
  end if;
  if target is not null and not target = any (public.spaces_to('ask')) then
    if target = any (public.spaces_to('read')) then
      raise exception using errcode = '42501', message = 'This space is archived: nothing is added to it any more.';
    end if;
    raise exception using errcode = 'PT404', message = 'There is no such space.';
  end if;
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
revoke execute on function move_conversation(uuid, uuid) from public;
grant execute on function move_conversation(uuid, uuid) to authenticated;

-- Invitations to the caller's confirmed address, with what a person decides by.
create function received_invitations()
  returns table (id uuid, space_id uuid, space_name text, color text, role text, invited_by text, documents bigint,
    members bigint, expires_at timestamptz)
  language sql stable security definer set search_path = ''
as $$
  select i.id, i.space_id, s.name, s.color, i.role,
    public.display_name(u.raw_user_meta_data, u.email),
    (select count(*) from public.documents d where d.space_id = s.id and d.superseded_at is null),
    (select count(*) from public.space_members m where m.space_id = s.id),
    i.expires_at
  from public.space_invitations i
  join public.spaces s on s.id = i.space_id
  left join auth.users u on u.id = i.invited_by
  where i.email = public.confirmed_email() and i.expires_at > now()
  order by i.created_at desc
$$;
revoke execute on function received_invitations() from public;
grant execute on function received_invitations() to authenticated;
