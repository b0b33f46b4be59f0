-- The rest of what SQL written for Supabase counts on, so that it applies as it is: roles, the schema of extensions, columns
-- that we do not use, who may use what is made in `public`, and broadcasting from SQL.

do $$
declare
  wanted text;
begin
  foreach wanted in array array[
    'supabase_admin', 'supabase_storage_admin', 'supabase_realtime_admin', 'dashboard_user'
  ] loop
    begin
      execute format('create role %I nologin noinherit', wanted);
    exception when duplicate_object or unique_violation then
      null; -- roles belong to the cluster: another database of it may have made them
    end;
  end loop;
end
$$;

create schema if not exists extensions;
grant usage on schema extensions to anon, authenticated, service_role, supabase_auth_admin;

do $$
declare
  wanted text;
begin
  foreach wanted in array array['pgcrypto', 'uuid-ossp'] loop
    begin
      execute format('create extension if not exists %I with schema extensions', wanted);
    exception when others then
      raise notice 'the extension % is not to be had here: %', wanted, sqlerrm;
    end;
  end loop;
  -- For whoever applies such SQL by hand; the server sets its own path.
  execute format('alter database %I set search_path = "$user", public, extensions', current_database());
exception when insufficient_privilege then
  raise notice 'the search path of this database is left as it is';
end
$$;

-- As on Supabase, what is made in `public` may be used by all three roles, and row-level security decides. The product's
-- migrations take this back for themselves; a later migration of the platform says by name who may call its functions.
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges in schema public grant execute on functions to anon, authenticated, service_role;
alter default privileges grant execute on functions to public;

alter table auth.sessions
  add column if not exists oauth_client_id uuid,
  add column if not exists refresh_token_hmac_key text,
  add column if not exists refresh_token_counter bigint,
  add column if not exists scopes text;
alter table auth.refresh_tokens add column if not exists instance_id uuid;
alter table auth.flow_state
  add column if not exists invite_token text,
  add column if not exists referrer text,
  add column if not exists oauth_client_state_id uuid,
  add column if not exists linking_target_id uuid,
  add column if not exists email_optional boolean not null default false;
alter table auth.mfa_factors add column if not exists last_webauthn_challenge_data jsonb;
alter table auth.mfa_challenges add column if not exists web_authn_session_data jsonb;

create table auth.instances (
  id uuid primary key,
  uuid uuid,
  raw_base_config text,
  created_at timestamptz,
  updated_at timestamptz
);
create table auth.audit_log_entries (
  instance_id uuid,
  id uuid primary key,
  payload json,
  created_at timestamptz,
  ip_address varchar(64) not null default ''
);
create index audit_logs_instance_id_idx on auth.audit_log_entries (instance_id);
create table auth.mfa_amr_claims (
  session_id uuid not null references auth.sessions on delete cascade,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  authentication_method text not null,
  id uuid primary key,
  unique (session_id, authentication_method)
);
do $$
declare
  named text;
begin
  foreach named in array array['instances', 'audit_log_entries', 'mfa_amr_claims'] loop
    execute format('alter table auth.%I enable row level security', named);
    execute format('alter table auth.%I force row level security', named);
    execute format('grant select, insert, update, delete on auth.%I to supabase_auth_admin', named);
  end loop;
end
$$;

-- The payload of a large broadcast rests under an extension of its own, so that it is not taken for one that somebody sends.
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
  perform pg_notify('realtime_broadcast', envelope::text);
end
$$;
revoke execute on function realtime.relay(jsonb) from public, anon, authenticated;

-- A message that somebody inserts is sent, as the policies of the table admit it.
create function realtime.relay_inserted() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform realtime.relay(jsonb_build_object(
    'id', new.id, 'topic', new.topic, 'event', coalesce(new.event, ''), 'private', new.private, 'payload', new.payload
  ));
  return null;
end
$$;
revoke execute on function realtime.relay_inserted() from public, anon, authenticated;
create trigger relay_inserted after insert on realtime.messages
  for each row when (new.extension = 'broadcast' and new.payload is not null)
  execute function realtime.relay_inserted();

-- Hands a payload to every member of a topic, on every node, when the caller's transaction commits. Whoever row-level
-- security binds sends what the policies of `realtime.messages` admit; a refusal is a warning, never the end of a write.
create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language plpgsql volatile security invoker set search_path = ''
as $$
declare
  topic_before text := coalesce(current_setting('realtime.topic', true), '');
begin
  if not row_security_active('realtime.messages') then
    perform realtime.relay(jsonb_build_object(
      'id', gen_random_uuid(), 'topic', topic, 'event', event, 'private', coalesce(private, true), 'payload', payload
    ));
    return;
  end if;
  begin
    perform set_config('realtime.topic', topic, true);
    insert into realtime.messages (topic, extension, payload, event, private)
    values (topic, 'broadcast', payload, event, coalesce(private, true));
  exception when others then
    raise warning 'realtime: a message to % was not sent: %', topic, sqlerrm;
  end;
  perform set_config('realtime.topic', topic_before, true);
end
$$;
revoke execute on function realtime.send(jsonb, text, text, boolean) from public;
grant execute on function realtime.send(jsonb, text, text, boolean) to anon, authenticated, service_role;

-- For a trigger: tells a topic how a row has changed.
create function realtime.broadcast_changes(
  topic_name text, event_name text, operation text, table_name text, table_schema text, new record, old record,
  level text default 'ROW'
) returns void
  language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if level = 'STATEMENT' then
    raise exception 'realtime.broadcast_changes tells of rows: its trigger must be one for each row';
  end if;
  if operation not in ('INSERT', 'UPDATE', 'DELETE') then
    raise exception 'realtime.broadcast_changes does not know the operation %', operation;
  end if;
  perform realtime.send(
    jsonb_build_object(
      'operation', operation, 'table', table_name, 'schema', table_schema,
      'record', to_jsonb(new), 'old_record', to_jsonb(old)
    ),
    event_name, topic_name
  );
end
$$;
revoke execute on function realtime.broadcast_changes(text, text, text, text, text, record, record, text) from public;
grant execute on function realtime.broadcast_changes(text, text, text, text, text, record, record, text)
  to anon, authenticated, service_role;
