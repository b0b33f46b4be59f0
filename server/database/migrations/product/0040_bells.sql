-- As `realtime.ring` does where that exists: a server that rings by a bus is handed the bell instead of a notification.
create or replace function tg_messages__enqueue_reply() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if current_setting('alcove.copies_answered', true) = 'on' then
    return null;
  end if;
  insert into public.replies (message_id, conversation_id, owner)
  select new.id, new.conversation_id, c.uid from public.conversations c where c.id = new.conversation_id;
  if current_setting('alcove.bells', true) = 'handed' then
    raise notice using errcode = 'ALCB1', message = 'replies', detail = new.conversation_id::text;
  else
    perform pg_notify('replies', new.conversation_id::text);
  end if;
  return null;
end
$$;
