-- A payload that names its own `id` is sent under it, as on Supabase: whoever sends it can tell its notification from others.
create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
  language plpgsql volatile security invoker set search_path = ''
as $$
declare
  topic_before text := coalesce(current_setting('realtime.topic', true), '');
  given_id text := case when jsonb_typeof(payload) = 'object' then payload ->> 'id' end;
  message_id uuid := case when pg_input_is_valid(given_id, 'uuid') then given_id::uuid else gen_random_uuid() end;
begin
  if not row_security_active('realtime.messages') then
    perform realtime.relay(jsonb_build_object(
      'id', message_id, 'topic', topic, 'event', event, 'private', coalesce(private, true), 'payload', payload
    ));
    return;
  end if;
  begin
    perform set_config('realtime.topic', topic, true);
    insert into realtime.messages (id, topic, extension, payload, event, private)
    values (message_id, topic, 'broadcast', payload, event, coalesce(private, true));
  exception when others then
    raise warning 'realtime: a message to % was not sent: %', topic, sqlerrm;
  end;
  perform set_config('realtime.topic', topic_before, true);
end
$$;

-- A message may rest under its id already: it was inserted, or is sent again because nobody heard that it had been sent.
create or replace function realtime.relay(envelope jsonb) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if octet_length(envelope::text) > 7500 then
    insert into realtime.messages (id, topic, extension, payload, event, private)
    values (
      (envelope ->> 'id')::uuid, envelope ->> 'topic', 'stored', envelope -> 'payload', envelope ->> 'event',
      (envelope ->> 'private')::boolean
    )
    on conflict (id) do update set payload = excluded.payload;
    envelope := envelope - 'payload' || '{"stored": true}';
  end if;
  perform realtime.ring('realtime_broadcast', envelope::text);
end
$$;
