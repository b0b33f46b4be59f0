-- Counters of bytes belong to a library, a person's or a space's. A space counts with its longest-standing owner.
alter table usage drop constraint usage_owner_fkey;
alter table usage_changes drop constraint usage_changes_owner_fkey;
alter table embeddings_failures drop constraint embeddings_failures_owner_fkey;

create function tg_forget_library() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.usage where owner = old.id;
  delete from public.usage_changes where owner = old.id;
  delete from public.embeddings_failures where owner = old.id;
  return null;
end
$$;
create trigger tg_users__forget_library after delete on auth.users for each row execute function tg_forget_library();
create trigger tg_spaces__forget_library after delete on spaces for each row execute function tg_forget_library();

create function payer_of(library uuid) returns uuid
  language sql stable security definer set search_path = ''
as $$
  select coalesce(
    (select m.user_id from public.space_members m where m.space_id = library and m.role = 'owner'
     order by m.added_at, m.user_id limit 1),
    library
  )
$$;
revoke execute on function payer_of(uuid) from public;

-- The libraries that count with a person.
create function paid_libraries(person uuid) returns uuid[]
  language sql stable security definer set search_path = ''
as $$
  select person || array(
    select m.space_id from public.space_members m
    where m.user_id = person and m.role = 'owner' and public.payer_of(m.space_id) = person
  )
$$;
revoke execute on function paid_libraries(uuid) from public;

create function own_paid_libraries() returns uuid[]
  language sql stable security definer set search_path = ''
as $$ select public.paid_libraries(auth.uid()) $$;
revoke execute on function own_paid_libraries() from public;
grant execute on function own_paid_libraries() to authenticated;

drop policy "owner reads own usage" on usage;
create policy "a person reads the usage that counts with it" on usage for select to authenticated
  using (owner = any ((select own_paid_libraries())::uuid[]));
drop policy "owner reads own changes of usage" on usage_changes;
create policy "a person reads changes of the usage that counts with it" on usage_changes for select to authenticated
  using (owner = any ((select own_paid_libraries())::uuid[]));

create or replace function own_usage() returns table (file_bytes bigint, file_limit bigint, text_bytes bigint, text_limit bigint)
  language sql stable set search_path = ''
as $$
  select b.files, q.file_bytes_per_person, b.texts, q.text_bytes_per_person
  from public.quotas q,
    (
      select coalesce(sum(u.file_bytes), 0)::bigint as files, coalesce(sum(u.text_bytes), 0)::bigint as texts
      from (
        select owner, file_bytes, text_bytes from public.usage
        union all select owner, file_bytes, text_bytes from public.usage_changes
      ) u
      where u.owner = any ((select public.own_paid_libraries())::uuid[])
    ) b
$$;

-- `used` includes the bytes that are added.
create or replace function enforce_quotas(used usage, files bigint, texts bigint) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  allowed public.quotas;
  person uuid;
  others record;
  -- The figures of the owner, who has other libraries too, are not for the other members of a space.
  is_hidden boolean := false;
begin
  select * into allowed from public.quotas;
  if allowed.file_bytes_per_person > 0 or allowed.text_bytes_per_person > 0 then
    person := public.payer_of(used.owner);
    is_hidden := person <> used.owner and person is distinct from auth.uid();
    select coalesce(sum(u.file_bytes), 0)::bigint as files, coalesce(sum(u.text_bytes), 0)::bigint as texts into others
    from (
      select owner, file_bytes, text_bytes from public.usage
      union all select owner, file_bytes, text_bytes from public.usage_changes
    ) u
    where u.owner = any (public.paid_libraries(person)) and u.owner <> used.owner;
    used.file_bytes := used.file_bytes + others.files;
    used.text_bytes := used.text_bytes + others.texts;
  end if;
  if files > 0 and allowed.file_bytes_per_person > 0 and used.file_bytes > allowed.file_bytes_per_person then
    if is_hidden then
      raise exception using errcode = 'PT413', message = 'This space is full. Its owner can make room.';
    end if;
    raise exception using errcode = 'PT413', message = format(
      'Your documents use %s of %s. Delete some to upload more.',
      public.describe_bytes(used.file_bytes - files), public.describe_bytes(allowed.file_bytes_per_person)
    );
  end if;
  if texts > 0 and allowed.text_bytes_per_person > 0 and used.text_bytes > allowed.text_bytes_per_person then
    if is_hidden then
      raise exception using errcode = 'PT413', message = 'This space is full. Its owner can make room.';
    end if;
    raise exception using errcode = 'PT413', message = format(
      'Your conversations use %s of %s. Delete some to write more.',
      public.describe_bytes(used.text_bytes - texts), public.describe_bytes(allowed.text_bytes_per_person)
    );
  end if;
  if allowed.total_bytes > 0 and public.total_usage() > allowed.total_bytes then
    raise exception using errcode = 'PT413',
      message = 'This server is full. Delete documents or conversations, or ask its operator for more space.';
  end if;
end
$$;

drop function count_usage(uuid, bigint, bigint);
create function count_usage(library uuid, files bigint, texts bigint) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  used public.usage;
begin
  if library is null or (files = 0 and texts = 0) then
    return;
  end if;
  if (files <= 0 and texts <= 0) or not (
    coalesce(current_setting('role', true), '') in ('anon', 'authenticated')
    or coalesce(current_setting('alcove.enforces_quotas', true), '') = 'on'
  ) then
    -- An account or a space that is being deleted has no row any more.
    insert into public.usage_changes (owner, file_bytes, text_bytes)
    select library, files, texts where exists (select from auth.users u where u.id = library)
      or exists (select from public.spaces s where s.id = library);
    return;
  end if;
  -- Libraries of one payer are counted one after another.
  perform pg_advisory_xact_lock(hashtextextended('payer ' || public.payer_of(library), 0));
  insert into public.usage (owner)
  select library where not exists (select from public.usage where owner = library)
    and (exists (select from auth.users u where u.id = library) or exists (select from public.spaces s where s.id = library))
  on conflict do nothing;
  perform from public.usage where owner = library for update;
  with folded as (
    delete from public.usage_changes c where c.owner = library returning c.file_bytes, c.text_bytes
  ), sums as (
    select coalesce(sum(f.file_bytes), 0) as files, coalesce(sum(f.text_bytes), 0) as texts from folded f
  )
  update public.usage u
  set file_bytes = u.file_bytes + sums.files + count_usage.files, text_bytes = u.text_bytes + sums.texts + count_usage.texts
  from sums where u.owner = library
  returning u.owner, u.file_bytes, u.text_bytes into used;
  if found then
    perform public.enforce_quotas(used, files, texts);
  end if;
end
$$;
revoke execute on function count_usage(uuid, bigint, bigint) from public;

-- For a request after which the server writes text into a conversation.
create function require_room_for_answer(conversation uuid) returns void
  language sql volatile security definer set search_path = ''
as $$ select public.require_text_room(coalesce(c.space_id, c.uid)) from public.conversations c where c.id = conversation $$;
revoke execute on function require_room_for_answer(uuid) from public;
grant execute on function require_room_for_answer(uuid) to service_role;

-- Whether the payer of a space has room for texts; true outside of spaces that the caller is in.
create function has_text_room(space uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$
  select not space = any (public.spaces_to('read')) or q.text_bytes_per_person = 0 or q.text_bytes_per_person >= (
    select coalesce(sum(u.text_bytes), 0) from (
      select owner, text_bytes from public.usage
      union all select owner, text_bytes from public.usage_changes
    ) u
    where u.owner = any (public.paid_libraries(public.payer_of(space)))
  )
  from public.quotas q
$$;
revoke execute on function has_text_room(uuid) from public;
grant execute on function has_text_room(uuid) to authenticated;

create or replace function tg_documents__count_pages() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform public.count_usage(new.library, new.page_bytes - old.page_bytes, 0);
  return null;
end
$$;

create or replace function tg_messages__move_versions() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  bytes bigint;
begin
  if tg_op = 'UPDATE' and new.conversation_id = old.conversation_id then
    return new;
  end if;
  select coalesce(sum(public.text_size(v.content) + public.json_size(v.metadata)), 0) into bytes
  from public.message_versions v where v.message_id = old.id;
  if bytes > 0 then
    -- A conversation that is being deleted has released its versions.
    perform public.count_usage(coalesce(c.space_id, c.uid), 0, -bytes) from public.conversations c where c.id = old.conversation_id;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  if bytes > 0 then
    perform public.count_usage(coalesce(c.space_id, c.uid), 0, bytes) from public.conversations c where c.id = new.conversation_id;
  end if;
  return new;
end
$$;

create or replace function tg_conversations__release_messages() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  bytes bigint;
  library uuid := coalesce(old.space_id, old.uid);
begin
  if tg_op = 'UPDATE' and coalesce(new.space_id, new.uid) = library then
    return new;
  end if;
  -- With the account or the space, all counters go.
  if tg_op = 'DELETE' and not exists (select from auth.users u where u.id = library)
    and not exists (select from public.spaces s where s.id = library)
  then
    return old;
  end if;
  bytes := public.conversation_bytes(old.id);
  perform public.count_usage(library, 0, -bytes);
  if tg_op = 'DELETE' then
    return old;
  end if;
  perform public.count_usage(coalesce(new.space_id, new.uid), 0, bytes);
  return new;
end
$$;
drop trigger tg_conversations__move_messages on conversations;
create trigger tg_conversations__move_messages before update of uid, space_id on conversations
  for each row execute function tg_conversations__release_messages();

do $$
declare
  counted record;
  operation text;
  rows_of constant jsonb := '{"insert": "new table as new_rows", "delete": "old table as old_rows",
    "update": "old table as old_rows new table as new_rows"}';
  of_conversation constant text :=
    '(select coalesce(c.space_id, c.uid) from public.conversations c where c.id = r.conversation_id)';
begin
  for counted in
    select * from (values
      ('public.conversations', 'coalesce(r.space_id, r.uid)', '0',
        'public.text_size(r.title, r.model_name) + public.json_size(r.metadata)'),
      ('public.messages', of_conversation, '0', 'public.text_size(r.content) + public.json_size(r.metadata)'),
      ('public.message_versions',
        '(select coalesce(c.space_id, c.uid) from public.conversations c join public.messages m on m.conversation_id = c.id
          where m.id = r.message_id)', '0', 'public.text_size(r.content) + public.json_size(r.metadata)'),
      ('public.conversation_summaries', of_conversation, '0', 'public.text_size(r.content, r.model)'),
      ('public.documents', 'r.library', 'public.file_size(r.size) + r.page_bytes', '0')
    ) as v (relation, owner_sql, files_sql, texts_sql)
  loop
    foreach operation in array array['insert', 'delete', 'update'] loop
      -- The size of a document never changes, while its progress often does.
      continue when counted.relation = 'public.documents' and operation = 'update';
      execute format('drop trigger tg_usage__%s on %s', operation, counted.relation);
      execute format(
        'create trigger tg_usage__%s after %1$s on %s referencing %s
         for each statement execute function public.tg_count_usage(%L, %L, %L)',
        operation, counted.relation, rows_of ->> operation, counted.owner_sql, counted.files_sql, counted.texts_sql
      );
    end loop;
  end loop;
end
$$;
