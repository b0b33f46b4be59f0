-- The versions of a message follow it when it is deleted or moved, and then nothing names their owner any more.
create function tg_messages__move_versions() returns trigger
  language plpgsql volatile security definer set search_path = ''
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
    perform public.count_usage(c.uid, 0, -bytes) from public.conversations c where c.id = old.conversation_id;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  if bytes > 0 then
    perform public.count_usage(c.uid, 0, bytes) from public.conversations c where c.id = new.conversation_id;
  end if;
  return new;
end
$$;
create trigger tg_messages__move_versions before delete or update of conversation_id on messages
  for each row execute function tg_messages__move_versions();

-- Bytes of everything that a conversation holds; its own row is counted by `tg_usage__…`.
create function conversation_bytes(conversation uuid) returns bigint
  language sql stable set search_path = ''
as $$
  select coalesce(sum(b.bytes), 0)::bigint from (
    select public.text_size(m.content) + public.json_size(m.metadata) as bytes
    from public.messages m where m.conversation_id = conversation
    union all
    select public.text_size(v.content) + public.json_size(v.metadata)
    from public.messages m join public.message_versions v on v.message_id = m.id where m.conversation_id = conversation
    union all
    select public.text_size(s.content, s.model) from public.conversation_summaries s where s.conversation_id = conversation
  ) b
$$;
revoke execute on function conversation_bytes(uuid) from public;

-- A deleted conversation no longer names its owner when its contents follow it; one that changes its owner takes them along.
create or replace function tg_conversations__release_messages() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  bytes bigint;
begin
  if tg_op = 'UPDATE' and new.uid = old.uid then
    return new;
  end if;
  -- With the account, all counters go.
  if tg_op = 'DELETE' and not exists (select from auth.users u where u.id = old.uid) then
    return old;
  end if;
  bytes := public.conversation_bytes(old.id);
  perform public.count_usage(old.uid, 0, -bytes);
  if tg_op = 'DELETE' then
    return old;
  end if;
  perform public.count_usage(new.uid, 0, bytes);
  return new;
end
$$;
create trigger tg_conversations__move_messages before update of uid on conversations
  for each row execute function tg_conversations__release_messages();

do $$
declare
  operation text;
  rows_of constant jsonb := '{"insert": "new table as new_rows", "delete": "old table as old_rows",
    "update": "old table as old_rows new table as new_rows"}';
begin
  foreach operation in array array['insert', 'delete', 'update'] loop
    execute format(
      'create trigger tg_usage__%s after %1$s on public.conversation_summaries referencing %s
       for each statement execute function public.tg_count_usage(%L, %L, %L)',
      operation, rows_of ->> operation, '(select c.uid from public.conversations c where c.id = r.conversation_id)', '0',
      'public.text_size(r.content, r.model)'
    );
  end loop;
end
$$;
insert into usage as u (owner, text_bytes)
select c.uid, sum(text_size(s.content, s.model))
from conversation_summaries s join conversations c on c.id = s.conversation_id group by c.uid
on conflict (owner) do update set text_bytes = u.text_bytes + excluded.text_bytes;
