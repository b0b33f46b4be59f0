-- One request may name many topics: their policies are evaluated by one statement, as the caller. Each probe is rolled back.
create function realtime.writable_topics(topics text[]) returns setof text
  language plpgsql volatile set search_path = ''
as $$
declare
  topic_before text := coalesce(current_setting('realtime.topic', true), '');
  probed text;
begin
  foreach probed in array topics loop
    begin
      perform set_config('realtime.topic', probed, true);
      insert into realtime.messages (topic, extension, private) values (probed, 'broadcast', true);
      raise exception using errcode = 'ALCR1', message = 'the probe is rolled back';
    exception
      when sqlstate 'ALCR1' then return next probed;
      when insufficient_privilege then null;
    end;
  end loop;
  perform set_config('realtime.topic', topic_before, true);
end
$$;
revoke execute on function realtime.writable_topics(text[]) from public;
grant execute on function realtime.writable_topics(text[]) to anon, authenticated, service_role;
