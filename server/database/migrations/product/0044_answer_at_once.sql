-- A question before which nobody waits is claimed in the transaction that stores it, for the process that runs this
-- transaction: `alcove.answers` holds how many seconds it may be silent and its name. It is told by a notice, which PostgreSQL
-- sends before the commit and the process heeds after it.
create or replace function tg_messages__enqueue_reply() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  answers text := nullif(current_setting('alcove.answers', true), '');
  asker uuid;
  claimed json;
begin
  if current_setting('alcove.copies_answered', true) = 'on' then
    return null;
  end if;
  -- One question of a conversation after another, so that the next sees whether this one is being answered.
  select c.uid into asker from public.conversations c where c.id = new.conversation_id for no key update;
  if answers is not null
    and not exists (select from public.replies r where r.state = 'queued')
    and not exists (select from public.replies r where r.state = 'running' and r.conversation_id = new.conversation_id)
  then
    insert into public.replies as r (message_id, conversation_id, owner, state, attempt, tries, worker, lease_until)
    values (
      new.id, new.conversation_id, asker, 'running', 1, 1, substr(answers, strpos(answers, ' ') + 1),
      clock_timestamp() + make_interval(secs => split_part(answers, ' ', 1)::double precision)
    )
    returning json_build_object(
      'id', r.id, 'messageId', r.message_id, 'conversationId', r.conversation_id, 'owner', r.owner, 'answerId', r.answer_id,
      'kind', r.kind, 'modelName', r.model_name, 'attempt', r.attempt, 'tries', r.tries,
      'stopRequested', r.stop_requested,
      'hasOwnProviders', exists (select from public.own_providers o where o.owner = r.owner)
    ) into claimed;
    raise notice using errcode = 'ALCH1', message = 'claimed', detail = claimed;
    -- Room was asked about once: what else this transaction stores takes its turn in the queue.
    perform set_config('alcove.answers', '', true);
    return null;
  end if;
  insert into public.replies (message_id, conversation_id, owner) values (new.id, new.conversation_id, asker);
  if current_setting('alcove.bells', true) = 'handed' then
    raise notice using errcode = 'ALCB1', message = 'replies', detail = new.conversation_id::text;
  else
    perform pg_notify('replies', new.conversation_id::text);
  end if;
  return null;
end
$$;

-- Whether any waits, and whether one of a conversation is being written, is asked for each question.
drop index replies_unfinished_idx;
create index replies_unfinished_idx on replies (state, conversation_id) where state in ('queued', 'running');
