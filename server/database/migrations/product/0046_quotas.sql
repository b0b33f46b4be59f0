-- Limits of the installation, which the server sets from its configuration. 0: no limit.
create table quotas (
  id boolean primary key default true check (id),
  file_bytes_per_person bigint not null default 0 check (file_bytes_per_person >= 0),
  text_bytes_per_person bigint not null default 0 check (text_bytes_per_person >= 0),
  total_bytes bigint not null default 0 check (total_bytes >= 0)
);
insert into quotas default values;

-- Bytes that a person's rows hold, as of the last statement that a quota was applied to.
create table usage (
  owner uuid primary key references auth.users (id) on delete cascade,
  file_bytes bigint not null default 0,
  text_bytes bigint not null default 0
) with (fillfactor = 50);

-- Changes since then by statements without a quota (answers, deletions), which only append, so that no answer waits for a lock
-- that a person holds.
create table usage_changes (
  id bigint generated always as identity primary key,
  owner uuid not null references auth.users (id) on delete cascade,
  file_bytes bigint not null,
  text_bytes bigint not null
);
create index usage_changes_owner_idx on usage_changes (owner);

-- The sum over all people, kept where they are too many to be summed up for each statement.
create table usage_total (
  id boolean primary key default true check (id),
  people integer not null default 0,
  bytes bigint not null default 0,
  counted_at timestamptz not null default '-infinity'
);
insert into usage_total default values;

alter table quotas enable row level security;
alter table quotas force row level security;
create policy "everyone signed in reads the limits" on quotas for select to authenticated using (true);
grant select on quotas to authenticated;
grant select, update on quotas to service_role;
alter table usage enable row level security;
alter table usage force row level security;
create policy "owner reads own usage" on usage for select to authenticated using (owner = (select auth.uid()));
grant select on usage to authenticated;
alter table usage_changes enable row level security;
alter table usage_changes force row level security;
create policy "owner reads own changes of usage" on usage_changes for select to authenticated
  using (owner = (select auth.uid()));
grant select on usage_changes to authenticated;
alter table usage_total enable row level security;
alter table usage_total force row level security;

-- The caller's usage and limits; a limit of 0 is none.
create function own_usage() returns table (file_bytes bigint, file_limit bigint, text_bytes bigint, text_limit bigint)
  language sql stable set search_path = ''
as $$
  select (coalesce(u.file_bytes, 0) + coalesce(c.files, 0))::bigint, q.file_bytes_per_person,
    (coalesce(u.text_bytes, 0) + coalesce(c.texts, 0))::bigint, q.text_bytes_per_person
  from public.quotas q
  left join public.usage u on u.owner = (select auth.uid())
  left join (
    select sum(file_bytes) as files, sum(text_bytes) as texts from public.usage_changes where owner = (select auth.uid())
  ) c on true
$$;
revoke execute on function own_usage() from public;
grant execute on function own_usage() to authenticated;

-- A row takes about 256 bytes beside its text: its head and its index entries.
create function text_size(variadic texts text[]) returns bigint
  language sql immutable parallel safe set search_path = ''
as $$ select 256 + coalesce(sum(octet_length(t)), 0) from unnest(texts) as t $$;
revoke execute on function text_size(text[]) from public;

-- A file takes at least one block of a disk.
create function file_size(bytes numeric) returns bigint
  language sql immutable parallel safe set search_path = ''
as $$ select (4096 + coalesce(bytes, 0))::bigint $$;
revoke execute on function file_size(numeric) from public;

create function describe_bytes(bytes numeric) returns text
  language sql immutable parallel safe set search_path = ''
as $$
  select case
    when bytes >= 1e9 then rtrim(rtrim(to_char(bytes / 1e9, 'FM999999990.0'), '0'), '.') || ' GB'
    when bytes >= 1e6 then rtrim(rtrim(to_char(bytes / 1e6, 'FM999999990.0'), '0'), '.') || ' MB'
    else ceil(greatest(bytes, 0) / 1e3) || ' kB'
  end
$$;
revoke execute on function describe_bytes(numeric) from public;

create function total_usage() returns bigint
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  known public.usage_total;
begin
  select * into known from public.usage_total;
  if known.people > 200 and known.counted_at > clock_timestamp() - interval '10 seconds' then
    return known.bytes;
  end if;
  select count(*), coalesce(sum(u.file_bytes + u.text_bytes), 0) into known.people, known.bytes from public.usage u;
  if known.people > 200 and pg_try_advisory_xact_lock(hashtextextended('usage_total', 0)) then
    update public.usage_total t set people = known.people, bytes = known.bytes, counted_at = clock_timestamp();
  end if;
  return known.bytes;
end
$$;
revoke execute on function total_usage() from public;

-- `used` includes the bytes that are added.
create function enforce_quotas(used usage, files bigint, texts bigint) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  allowed public.quotas;
begin
  select * into allowed from public.quotas;
  if files > 0 and allowed.file_bytes_per_person > 0 and used.file_bytes > allowed.file_bytes_per_person then
    raise exception using errcode = 'PT413', message = format(
      'Your documents use %s of %s. Delete some to upload more.',
      public.describe_bytes(used.file_bytes - files), public.describe_bytes(allowed.file_bytes_per_person)
    );
  end if;
  if texts > 0 and allowed.text_bytes_per_person > 0 and used.text_bytes > allowed.text_bytes_per_person then
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
revoke execute on function enforce_quotas(usage, bigint, bigint) from public;

-- Quotas apply to statements of people, and to those of the server that set `alcove.enforces_quotas`.
create function count_usage(person uuid, files bigint, texts bigint) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  used public.usage;
begin
  if person is null or (files = 0 and texts = 0) then
    return;
  end if;
  if (files <= 0 and texts <= 0) or not (
    coalesce(current_setting('role', true), '') in ('anon', 'authenticated')
    or coalesce(current_setting('alcove.enforces_quotas', true), '') = 'on'
  ) then
    -- An account that is being deleted has no row any more.
    insert into public.usage_changes (owner, file_bytes, text_bytes)
    select u.id, files, texts from auth.users u where u.id = person;
    return;
  end if;
  insert into public.usage (owner)
  select u.id from auth.users u where u.id = person and not exists (select from public.usage where owner = person)
  on conflict do nothing;
  perform from public.usage where owner = person for update;
  with folded as (
    delete from public.usage_changes c where c.owner = person returning c.file_bytes, c.text_bytes
  ), sums as (
    select coalesce(sum(f.file_bytes), 0) as files, coalesce(sum(f.text_bytes), 0) as texts from folded f
  )
  update public.usage u
  set file_bytes = u.file_bytes + sums.files + count_usage.files, text_bytes = u.text_bytes + sums.texts + count_usage.texts
  from sums where u.owner = person
  returning u.owner, u.file_bytes, u.text_bytes into used;
  if found then
    perform public.enforce_quotas(used, files, texts);
  end if;
end
$$;
revoke execute on function count_usage(uuid, bigint, bigint) from public;

-- For a request after which the server writes text for a person.
create function require_text_room(person uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  used public.usage;
begin
  select person, 0, coalesce(sum(b.bytes), 0) + 1 into used from (
    select u.text_bytes as bytes from public.usage u where u.owner = person
    union all select c.text_bytes from public.usage_changes c where c.owner = person
  ) b;
  perform public.enforce_quotas(used, 0, 1);
end
$$;
revoke execute on function require_text_room(uuid) from public;
grant execute on function require_text_room(uuid) to service_role;

-- Arguments: SQL of the owner, of the bytes of files and of the bytes of text of a row `r`.
create function tg_count_usage() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  added text := format('select %s as owner, %s as files, %s as texts from new_rows r', tg_argv[0], tg_argv[1], tg_argv[2]);
  removed text := format('select %s, -(%s), -(%s) from old_rows r', tg_argv[0], tg_argv[1], tg_argv[2]);
  changed record;
begin
  for changed in execute 'select owner, sum(files)::bigint as files, sum(texts)::bigint as texts from ('
    || case tg_op when 'INSERT' then added when 'DELETE' then removed else added || ' union all ' || removed end
    || ') as changes (owner, files, texts) where owner is not null group by owner'
  loop
    perform public.count_usage(changed.owner, changed.files, changed.texts);
  end loop;
  return null;
end
$$;

-- The messages of a deleted conversation no longer name its owner when they follow it.
create function tg_conversations__release_messages() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform public.count_usage(old.uid, 0, -coalesce(sum(b.bytes), 0)::bigint)
  from (
    select public.text_size(m.content, m.metadata::text) as bytes
    from public.messages m where m.conversation_id = old.id
    union all
    select public.text_size(v.content, v.metadata::text)
    from public.messages m join public.message_versions v on v.message_id = m.id where m.conversation_id = old.id
  ) b;
  return old;
end
$$;
create trigger tg_conversations__release_messages before delete on conversations
  for each row execute function tg_conversations__release_messages();

do $$
declare
  counted record;
  owner_of_message constant text :=
    '(select c.uid from public.conversations c join public.messages m on m.conversation_id = c.id where m.id = r.message_id)';
begin
  for counted in
    select * from (values
      ('public.conversations', 'r.uid', '0', 'public.text_size(r.title, r.model_name, r.metadata::text)'),
      ('public.messages', '(select c.uid from public.conversations c where c.id = r.conversation_id)', '0',
        'public.text_size(r.content, r.metadata::text)'),
      ('public.message_versions', owner_of_message, '0', 'public.text_size(r.content, r.metadata::text)'),
      ('public.message_feedback', 'r.owner', '0', 'public.text_size(r.reason)'),
      ('public.tool_consents', 'r.owner', '0', 'public.text_size(r.tool)'),
      ('public.documents', 'r.owner', 'public.file_size(r.size)', '0'),
      ('storage.objects', 'r.owner', $sql$public.file_size(coalesce(octet_length(r.user_metadata::text), 0)
        + case when jsonb_typeof(r.metadata -> 'size') = 'number' then (r.metadata ->> 'size')::numeric else 0 end)$sql$, '0')
    ) as v (relation, owner_sql, files_sql, texts_sql)
  loop
    execute format(
      'create trigger tg_usage__insert after insert on %s referencing new table as new_rows
       for each statement execute function public.tg_count_usage(%L, %L, %L)',
      counted.relation, counted.owner_sql, counted.files_sql, counted.texts_sql
    );
    execute format(
      'create trigger tg_usage__delete after delete on %s referencing old table as old_rows
       for each statement execute function public.tg_count_usage(%L, %L, %L)',
      counted.relation, counted.owner_sql, counted.files_sql, counted.texts_sql
    );
    -- The size of a document never changes, while its progress often does.
    if counted.relation <> 'public.documents' then
      execute format(
        'create trigger tg_usage__update after update on %s referencing old table as old_rows new table as new_rows
         for each statement execute function public.tg_count_usage(%L, %L, %L)',
        counted.relation, counted.owner_sql, counted.files_sql, counted.texts_sql
      );
    end if;
  end loop;
end
$$;
