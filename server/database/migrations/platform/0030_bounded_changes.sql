-- Bounds of what realtime records, reads and sends, whatever rows people write.
alter table realtime.changes add old_bytes integer not null default 0, add is_old_cut boolean not null default false;

-- The protocol sends only the small columns of a row above 1 MiB; filters and policies read those up to 8 KiB.
create function realtime.small_columns(image jsonb) returns jsonb
  language sql immutable set search_path = ''
as $$
  select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(image) e where pg_column_size(e.value) <= 8192
$$;

-- Adds the bytes that the statements of this transaction have read, over all people whom they were read for.
create function realtime.count_read(bytes integer, bound bigint) returns bigint
  language plpgsql volatile set search_path = ''
as $$
declare
  total bigint := coalesce(nullif(current_setting('realtime.bytes_read', true), ''), '0')::bigint + bytes;
begin
  if total > bound then
    raise exception using errcode = 'PT413', message = 'The rows are too large to be read together';
  end if;
  perform set_config('realtime.bytes_read', total::text, true);
  return total;
end
$$;
revoke execute on function realtime.small_columns(jsonb) from public;
revoke execute on function realtime.count_read(integer, bigint) from public;
grant execute on function realtime.count_read(integer, bigint) to anon, authenticated, service_role;

create or replace function realtime.record_change() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  max_bytes constant integer := 1048576;
  key_columns text[] := tg_argv[0];
  old_columns text[] := nullif(tg_argv[1], '*');
  rows_changed bigint;
  doorbell text;
begin
  if tg_op = 'INSERT' then
    insert into realtime.changes (table_schema, table_name, op, key)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(to_jsonb(n.*), key_columns) from new_rows n;
  elsif tg_op = 'UPDATE' then
    -- PostgreSQL fills both transition tables row by row, so that equal positions are one row.
    insert into realtime.changes (table_schema, table_name, op, key, old, old_bytes, is_old_cut)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(n.image, key_columns),
      case when s.bytes > max_bytes then realtime.small_columns(c.image) else c.image end,
      case when s.bytes > max_bytes then 65536 else s.bytes end, s.bytes > max_bytes
    from (select row_number() over () as position, to_jsonb(r.*) as image from new_rows r) n
    join (select row_number() over () as position, to_jsonb(r.*) as image from old_rows r) o using (position)
    cross join lateral (
      select case when old_columns is null then o.image else realtime.pick(o.image, old_columns) end as image offset 0
    ) c
    cross join lateral (select coalesce(pg_column_size(c.image), 0) as bytes offset 0) s
    order by position;
  else
    insert into realtime.changes (table_schema, table_name, op, key, old, old_bytes, is_old_cut)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(o.image, key_columns),
      case when s.bytes > max_bytes then realtime.small_columns(c.image) else c.image end,
      case when s.bytes > max_bytes then 65536 else s.bytes end, s.bytes > max_bytes
    from (select to_jsonb(r.*) as image from old_rows r) o
    cross join lateral (
      select case when old_columns is null then o.image else realtime.pick(o.image, old_columns) end as image offset 0
    ) c
    cross join lateral (select coalesce(pg_column_size(c.image), 0) as bytes offset 0) s;
  end if;
  get diagnostics rows_changed = row_count;

  if current_setting('alcove.bells', true) = 'handed' then
    doorbell := '{}';
  else
    if rows_changed = 1 then
      select jsonb_build_object(
        'xid', c.xid::text, 'id', c.id::text, 'schema', c.table_schema, 'table', c.table_name, 'op', c.op,
        'key', c.key::text, 'old', c.old::text, 'at', extract(epoch from c.changed_at) * 1000
      )::text
      into doorbell
      from realtime.changes c
      where c.xid = pg_current_xact_id() and c.id = currval('realtime.changes_id_seq');
    end if;
    if rows_changed > 1 or octet_length(doorbell) > 7500 then
      doorbell := jsonb_build_object('xid', pg_current_xact_id()::text)::text;
    end if;
  end if;
  if rows_changed > 0 then
    perform realtime.ring('realtime_changes', doorbell);
  end if;
  return null;
exception when others then
  -- Nobody's write may fail because it could not be announced.
  raise warning 'realtime: a change of %.% was not recorded: %', tg_table_schema, tg_table_name, sqlerrm;
  return null;
end
$$;
