-- Live changes, broadcast and presence. Row triggers write what changed (key, and of an old row no more than its identity
-- and what the policies look at) to an outbox and ring a doorbell; the service then reads each row as each subscriber.

create schema realtime;
grant usage on schema realtime to anon, authenticated, service_role;

-- The probe for private channels: a person may join a topic whose probe row a select policy shows, and send to one
-- where an insert policy admits it. Broadcasts too large for a notification rest here until they are delivered.
create table realtime.messages (
  id uuid primary key default gen_random_uuid(),
  topic text not null,
  extension text not null,
  payload jsonb,
  event text,
  private boolean not null default false,
  inserted_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index messages_inserted_at_idx on realtime.messages (inserted_at);
alter table realtime.messages enable row level security;
alter table realtime.messages force row level security;
grant select, insert on realtime.messages to anon, authenticated;
grant select, insert, update, delete on realtime.messages to service_role;

create function realtime.topic() returns text
  language sql stable set search_path = ''
  return nullif(current_setting('realtime.topic', true), '');
grant execute on function realtime.topic() to anon, authenticated, service_role;

-- Hands an envelope to every node when the caller's transaction commits. A notification holds 8000 bytes at most: the
-- payload of a larger one is stored, and the notification carries the id.
create function realtime.relay(envelope jsonb) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if octet_length(envelope::text) > 7500 then
    insert into realtime.messages (id, topic, extension, payload, event, private)
    values (
      (envelope ->> 'id')::uuid, envelope ->> 'topic', 'broadcast', envelope -> 'payload', envelope ->> 'event',
      (envelope ->> 'private')::boolean
    );
    envelope := envelope - 'payload' || '{"stored": true}';
  end if;
  perform pg_notify('realtime_broadcast', envelope::text);
end
$$;
grant execute on function realtime.relay(jsonb) to service_role;

-- Hands a payload to every member of a topic, on every node, when the caller's transaction commits.
create function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform realtime.relay(jsonb_build_object(
    'id', gen_random_uuid(), 'topic', topic, 'event', event, 'private', coalesce(private, true), 'payload', payload
  ));
end
$$;
grant execute on function realtime.send(jsonb, text, text, boolean) to service_role;

-- The outbox. Unlogged: after a crash every socket is gone and every page fetches anew. The key's values are text, so that
-- no number loses digits on its way back into a query. Ids are given before commit, so readers go by transaction.
create unlogged table realtime.changes (
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  table_schema text not null,
  table_name text not null,
  op text not null check (op in ('INSERT', 'UPDATE', 'DELETE')),
  key jsonb,
  old jsonb,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (xid, id)
);
alter table realtime.changes enable row level security;
alter table realtime.changes force row level security;
grant select, delete on realtime.changes to service_role;

create function realtime.pick(image jsonb, columns text[]) returns jsonb
  language sql immutable set search_path = ''
  return (select jsonb_object_agg(c, image -> c) from unnest(columns) c);

create function realtime.pick_text(image jsonb, columns text[]) returns jsonb
  language sql immutable set search_path = ''
  return (select jsonb_object_agg(c, image ->> c) from unnest(columns) c);

-- Records what one statement changed. Arguments: the key's columns, and the columns of the old row to keep ('*': all).
-- A statement that changed one row is told whole in the notification, any other by its transaction; equal notifications of
-- a transaction are one, so 10,000 rows or 10,000 statements ring once.
create function realtime.record_change() returns trigger
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
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(to_jsonb(n), key_columns) from new_rows n;
  elsif tg_op = 'UPDATE' then
    -- PostgreSQL fills both transition tables row by row, so that equal positions are one row.
    insert into realtime.changes (table_schema, table_name, op, key, old)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(n.image, key_columns),
      case when old_columns is null then o.image else realtime.pick(o.image, old_columns) end
    from (select row_number() over () as position, to_jsonb(r) as image from new_rows r) n
    join (select row_number() over () as position, to_jsonb(r) as image from old_rows r) o using (position)
    order by position;
  else
    insert into realtime.changes (table_schema, table_name, op, key, old)
    select tg_table_schema, tg_table_name, tg_op, realtime.pick_text(o.image, key_columns),
      case when old_columns is null then o.image else realtime.pick(o.image, old_columns) end
    from (select to_jsonb(r) as image from old_rows r) o;
  end if;
  get diagnostics rows_changed = row_count;

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
  if rows_changed > 0 then
    perform pg_notify('realtime_changes', doorbell);
  end if;
  return null;
exception when others then
  -- Nobody's write may fail because it could not be announced.
  raise warning 'realtime: a change of %.% was not recorded: %', tg_table_schema, tg_table_name, sqlerrm;
  return null;
end
$$;

-- Gives every table of the publication `supabase_realtime` the triggers that record its changes, takes them from the
-- others, and renews them where the key, the replica identity or the policies have changed. Runs by itself after such a
-- statement where an event trigger is allowed; elsewhere it is called after a migration.
create function realtime.watch_publication() returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  wanted record;
begin
  for wanted in
    with published as (
      -- A statement trigger fires on the table that a statement names, so of a partitioned table it is the root's.
      select coalesce(pg_partition_root(c.oid), c.oid) as relid,
        bool_or(p.pubinsert) as inserts, bool_or(p.pubupdate) as updates, bool_or(p.pubdelete) as deletes
      from pg_publication p
      join pg_publication_tables t on t.pubname = p.pubname
      join pg_namespace n on n.nspname = t.schemaname
      join pg_class c on c.relnamespace = n.oid and c.relname = t.tablename
      where p.pubname = 'supabase_realtime' and n.nspname <> 'realtime'
      group by 1
    ),
    described as (
      select relid, inserts, updates, deletes,
        (select c.relreplident = 'f' from pg_class c where c.oid = relid) as is_full,
        coalesce((
          select array_agg(a.attname::text order by a.attnum)
          from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
          where i.indrelid = relid and (i.indisprimary or i.indisreplident)
            and i.indexrelid = (
              select k.indexrelid from pg_index k
              where k.indrelid = relid and (k.indisprimary or k.indisreplident)
              order by k.indisprimary desc limit 1
            )
        ), '{}') as key_columns,
        coalesce((
          select array_agg(distinct a.attname::text)
          from pg_policy p
          join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
            and d.refclassid = 'pg_class'::regclass and d.refobjid = p.polrelid
          join pg_attribute a on a.attrelid = p.polrelid and a.attnum = d.refobjsubid and a.attnum > 0
          where p.polrelid = relid and p.polcmd in ('r', '*')
        ), '{}') as policy_columns,
        -- A policy that looks at the row as a whole depends on no column by name.
        exists (
          select from pg_policy p
          where p.polrelid = relid and p.polcmd in ('r', '*') and p.polqual::text like '%:varattno 0 %'
        ) as has_whole_row_policy
      from published
    ),
    desired as (
      select relid, op, key_columns::text as keys,
        case
          when op = 'INSERT' then '{}'
          when is_full or (op = 'DELETE' and has_whole_row_policy) then '*'
          when op = 'UPDATE' then key_columns::text
          else (select coalesce(array_agg(distinct c), '{}')::text from unnest(key_columns || policy_columns) c)
        end as olds
      from described
      cross join lateral (
        values ('INSERT', inserts), ('UPDATE', updates), ('DELETE', deletes)
      ) as operations (op, is_published)
      where is_published
    ),
    existing as (
      select tgrelid as relid, upper(substr(tgname, length('realtime_') + 1)) as op, tgargs
      from pg_trigger
      where tgfoid = 'realtime.record_change'::regproc and not tgisinternal
    )
    select coalesce(d.relid, e.relid)::regclass as relation, coalesce(d.op, e.op) as op, d.keys, d.olds,
      d.relid is not null as is_desired, e.relid is not null as is_existing
    from desired d
    full join existing e on e.relid = d.relid and e.op = d.op
    where d.relid is null or e.relid is null
      or e.tgargs <> convert_to(d.keys, 'utf8') || '\x00' || convert_to(d.olds, 'utf8') || '\x00'
  loop
    if wanted.is_existing then
      execute format('drop trigger %I on %s', 'realtime_' || lower(wanted.op), wanted.relation);
    end if;
    if wanted.is_desired then
      execute format(
        'create trigger %I after %s on %s referencing %s for each statement execute function realtime.record_change(%L, %L)',
        'realtime_' || lower(wanted.op), wanted.op, wanted.relation,
        case wanted.op
          when 'INSERT' then 'new table as new_rows'
          when 'DELETE' then 'old table as old_rows'
          else 'old table as old_rows new table as new_rows'
        end,
        wanted.keys, wanted.olds
      );
    end if;
  end loop;
end
$$;

create publication supabase_realtime;

-- Also tells every node to read the catalogue anew, in the order of commits among the changes themselves.
create function realtime.follow_schema() returns event_trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform realtime.watch_publication();
  perform pg_notify('realtime_changes', '{"reload": true}');
end
$$;

do $$
begin
  create event trigger realtime_follow_schema on ddl_command_end
    when tag in (
      'CREATE PUBLICATION', 'ALTER PUBLICATION', 'DROP PUBLICATION', 'CREATE TABLE', 'ALTER TABLE', 'DROP TABLE',
      'CREATE POLICY', 'ALTER POLICY', 'DROP POLICY', 'GRANT', 'REVOKE'
    )
    execute function realtime.follow_schema();
exception when insufficient_privilege then
  raise notice 'no event trigger may be made here: call realtime.watch_publication() after a change of the publication';
end
$$;

-- Who is present where. A node that falls silent is removed, and its presences with it.
create unlogged table realtime.nodes (
  id uuid primary key,
  seen_at timestamptz not null default now()
);
create unlogged table realtime.presences (
  channel uuid primary key,
  ref text not null,
  node uuid not null references realtime.nodes on delete cascade,
  room text not null,
  key text not null,
  meta jsonb not null,
  tracked_at timestamptz not null default clock_timestamp()
);
create index presences_room_idx on realtime.presences (room);
create index presences_node_idx on realtime.presences (node);
alter table realtime.nodes enable row level security;
alter table realtime.nodes force row level security;
alter table realtime.presences enable row level security;
alter table realtime.presences force row level security;
grant select, insert, update, delete on realtime.nodes, realtime.presences to service_role;

-- A session that ends (sign-out, a revoked family, a deleted account) closes its channels before its token has expired.
create function realtime.announce_session_end() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_notify('realtime_session_end', old.id::text);
  return null;
end
$$;
create trigger realtime_session_end after delete on auth.sessions
  for each row execute function realtime.announce_session_end();
