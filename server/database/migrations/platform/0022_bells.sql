-- A notification makes commits wait for one another: PostgreSQL takes one lock for all of them. A server that rings by a
-- bus says so for its transaction, and is handed the bell beside the result, to ring when the transaction has committed.
create function realtime.ring(channel text, payload text) returns void
  language plpgsql volatile set search_path = ''
as $$
begin
  if current_setting('alcove.bells', true) = 'handed' then
    raise notice using errcode = 'ALCB1', message = channel, detail = payload;
  else
    perform pg_notify(channel, payload);
  end if;
end
$$;
revoke execute on function realtime.ring(text, text) from public;
grant execute on function realtime.ring(text, text) to service_role;

-- Bells that were handed out ring in any order, and so may not tell of a change themselves.
create or replace function realtime.record_change() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
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
    insert into realtime.changes (table_schema, table_name, op, key, old)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(n.image, key_columns),
      case when old_columns is null then o.image else realtime.pick(o.image, old_columns) end
    from (select row_number() over () as position, to_jsonb(r.*) as image from new_rows r) n
    join (select row_number() over () as position, to_jsonb(r.*) as image from old_rows r) o using (position)
    order by position;
  else
    insert into realtime.changes (table_schema, table_name, op, key, old)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(o.image, key_columns),
      case when old_columns is null then o.image else realtime.pick(o.image, old_columns) end
    from (select to_jsonb(r.*) as image from old_rows r) o;
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

create or replace function realtime.relay(envelope jsonb) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if octet_length(envelope::text) > 7500 then
    insert into realtime.messages (id, topic, extension, payload, event, private)
    values (
      (envelope ->> 'id')::uuid, envelope ->> 'topic', 'stored', envelope -> 'payload', envelope ->> 'event',
      (envelope ->> 'private')::boolean
    );
    envelope := envelope - 'payload' || '{"stored": true}';
  end if;
  perform realtime.ring('realtime_broadcast', envelope::text);
end
$$;

-- Which transactions changed the schema: whoever reads the outbox without hearing notifications in their order finds here
-- that the catalogue has to be read anew before what came with or after them.
create unlogged table realtime.schema_changes (
  xid xid8 primary key default pg_current_xact_id()
);
alter table realtime.schema_changes enable row level security;
alter table realtime.schema_changes force row level security;
grant select, delete on realtime.schema_changes to service_role;

create or replace function realtime.follow_schema() returns event_trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform realtime.watch_publication();
  insert into realtime.schema_changes default values on conflict do nothing;
  perform pg_notify('realtime_changes', '{"reload": true}');
end
$$;
