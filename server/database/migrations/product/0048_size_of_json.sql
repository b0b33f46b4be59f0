-- Bytes of a value in memory, whether it is stored compressed or not. Its text may be ten thousand times as long, since
-- numbers keep their exponents: it is never written out to be measured. Joined with nothing, it is itself, decompressed.
create function json_size(value jsonb) returns bigint
  language sql immutable parallel safe set search_path = ''
as $$ select coalesce(pg_column_size(value || '{}'), 0)::bigint $$;
revoke execute on function json_size(jsonb) from public;

create or replace function total_usage() returns bigint
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  known public.usage_total;
begin
  select * into known from public.usage_total;
  if known.people > 200 and known.counted_at > clock_timestamp() - interval '10 seconds' then
    return known.bytes;
  end if;
  select u.people, u.bytes + c.bytes into known.people, known.bytes
  from (select count(*) as people, coalesce(sum(file_bytes + text_bytes), 0) as bytes from public.usage) u,
    (select coalesce(sum(file_bytes + text_bytes), 0) as bytes from public.usage_changes) c;
  if known.people > 200 and pg_try_advisory_xact_lock(hashtextextended('usage_total', 0)) then
    update public.usage_total t set people = known.people, bytes = known.bytes, counted_at = clock_timestamp();
  end if;
  return known.bytes;
end
$$;

create or replace function tg_conversations__release_messages() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- With the account, all counters go.
  if not exists (select from auth.users u where u.id = old.uid) then
    return old;
  end if;
  perform public.count_usage(old.uid, 0, -coalesce(sum(b.bytes), 0)::bigint)
  from (
    select public.text_size(m.content) + public.json_size(m.metadata) as bytes
    from public.messages m where m.conversation_id = old.id
    union all
    select public.text_size(v.content) + public.json_size(v.metadata)
    from public.messages m join public.message_versions v on v.message_id = m.id where m.conversation_id = old.id
  ) b;
  return old;
end
$$;

-- Nobody writes meanwhile, so the counters start from all rows there are.
lock table conversations, messages, message_versions, message_feedback, tool_consents, documents, storage.objects
  in share row exclusive mode;
delete from usage_changes;
delete from usage;

do $$
declare
  counted record;
  operation text;
  rows_of constant jsonb := '{"insert": "new table as new_rows", "delete": "old table as old_rows",
    "update": "old table as old_rows new table as new_rows"}';
  owner_of_message constant text :=
    '(select c.uid from public.conversations c join public.messages m on m.conversation_id = c.id where m.id = r.message_id)';
begin
  for counted in
    select * from (values
      ('public.conversations', 'r.uid', '0', 'public.text_size(r.title, r.model_name) + public.json_size(r.metadata)'),
      ('public.messages', '(select c.uid from public.conversations c where c.id = r.conversation_id)', '0',
        'public.text_size(r.content) + public.json_size(r.metadata)'),
      ('public.message_versions', owner_of_message, '0', 'public.text_size(r.content) + public.json_size(r.metadata)'),
      ('public.message_feedback', 'r.owner', '0', 'public.text_size(r.reason)'),
      ('public.tool_consents', 'r.owner', '0', 'public.text_size(r.tool)'),
      ('public.documents', 'r.owner', 'public.file_size(r.size)', '0'),
      ('storage.objects', 'r.owner', $sql$public.file_size(public.json_size(r.user_metadata)
        + case when jsonb_typeof(r.metadata -> 'size') = 'number' then (r.metadata ->> 'size')::numeric else 0 end)$sql$, '0')
    ) as v (relation, owner_sql, files_sql, texts_sql)
  loop
    if position('json_size' in counted.files_sql || counted.texts_sql) > 0 then
      foreach operation in array array['insert', 'delete', 'update'] loop
        execute format('drop trigger tg_usage__%s on %s', operation, counted.relation);
        execute format(
          'create trigger tg_usage__%s after %1$s on %s referencing %s
           for each statement execute function public.tg_count_usage(%L, %L, %L)',
          operation, counted.relation, rows_of ->> operation, counted.owner_sql, counted.files_sql, counted.texts_sql
        );
      end loop;
    end if;
    execute format(
      'insert into public.usage as u (owner, file_bytes, text_bytes)
       select c.owner, sum(c.files), sum(c.texts) from (select %s as owner, %s as files, %s as texts from %s r) c
       where exists (select from auth.users p where p.id = c.owner) group by c.owner
       on conflict (owner) do update
       set file_bytes = u.file_bytes + excluded.file_bytes, text_bytes = u.text_bytes + excluded.text_bytes',
      counted.owner_sql, counted.files_sql, counted.texts_sql, counted.relation
    );
  end loop;
end
$$;

create or replace function tg_tool_servers__limit() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('tool_servers ' || new.owner, 0));
  if (select count(*) from public.tool_servers s where s.owner = new.owner) >= 10 then
    raise exception using errcode = 'PT409', message = '10 servers are connected already. Remove one first.';
  end if;
  return new;
end
$$;

create or replace function tg_user_settings__limit() returns trigger
  language plpgsql volatile set search_path = ''
as $$
begin
  if pg_column_size(new.preferences || '{}') > 256000 then
    raise exception using errcode = 'PT413', message = 'Your preferences may take at most 256 kB.';
  end if;
  return new;
end
$$;
