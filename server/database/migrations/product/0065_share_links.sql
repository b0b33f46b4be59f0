-- Read-only links to one conversation and the passages that it cites. Only the hash of a token is stored.
create table share_links (
  id uuid primary key default gen_random_uuid(),
  conversation_id uuid not null references conversations (id) on delete cascade,
  created_by uuid not null default auth.uid() references auth.users (id) on delete cascade,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  -- Also for people without an account, where the operator allows it.
  for_anybody boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null check (expires_at <= created_at + interval '366 days')
);
create index share_links_conversation_id_idx on share_links (conversation_id);
create index share_links_created_by_idx on share_links (created_by);
create index share_links_expires_at_idx on share_links (expires_at);

-- Whether a person may link to a conversation: to one of the own, and to one of a space as its owner or editor.
create function has_right_to_link(person uuid, conversation uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$
  select exists (
    select from public.conversations c
    where c.id = conversation and (c.uid = person or c.is_shared)
      and (c.space_id is null or exists (
        select from public.space_members m
        where m.space_id = c.space_id and m.user_id = person and m.role in ('owner', 'editor')
      ))
  )
$$;
revoke execute on function has_right_to_link(uuid, uuid) from public;

create function may_link(conversation uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$ select public.has_right_to_link(auth.uid(), conversation) $$;
revoke execute on function may_link(uuid) from public;
grant execute on function may_link(uuid) to authenticated;

alter table share_links enable row level security;
alter table share_links force row level security;
create policy "links are listed by who may make them" on share_links for select to authenticated
  using (exists (select from conversations c where c.id = conversation_id) and may_link(conversation_id));
create policy "links are made by who may link to the conversation" on share_links for insert to authenticated
  with check (created_by = (select auth.uid()) and may_link(conversation_id));
create policy "links are revoked by who may make them" on share_links for delete to authenticated
  using (exists (select from conversations c where c.id = conversation_id) and may_link(conversation_id));
grant select (id, conversation_id, created_by, for_anybody, created_at, expires_at) on share_links to authenticated;
grant insert (conversation_id, token_hash, for_anybody, expires_at) on share_links to authenticated;
grant delete on share_links to authenticated;
grant select, insert, delete on share_links to service_role;

create function tg_share_links__record() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'DELETE' and old.expires_at <= now() then
    return null;
  end if;
  perform public.record_space_event(
    c.space_id, case tg_op when 'INSERT' then 'link_made' else 'link_revoked' end, c.id, '{}'
  )
  from public.conversations c where c.id = coalesce(new.conversation_id, old.conversation_id) and c.space_id is not null;
  return null;
end
$$;
create trigger tg_share_links__record after insert or delete on share_links
  for each row execute function tg_share_links__record();

-- The contents of a link: nothing once it has ended, or once the person who made it may no longer link to the conversation.
create function open_link(hash bytea, after_position bigint, most integer)
  returns table (title text, for_anybody boolean, expires_at timestamptz, messages jsonb)
  language sql stable security definer set search_path = ''
as $$
  select left(c.title, 500), l.for_anybody, l.expires_at,
    coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', m.id, 'sender_role', m.sender_role, 'content', m.content, 'created_at', m.created_at, 'position', m.position,
        'sources', m.metadata -> 'sources'
      ) order by m.position)
      from (
        select * from public.messages m
        where m.conversation_id = c.id and m.sender_role in (1, 2) and m.position > after_position
        order by m.position limit least(most, 200)
      ) m
    ), '[]')
  from public.share_links l join public.conversations c on c.id = l.conversation_id
  where l.token_hash = hash and l.expires_at > now() and public.has_right_to_link(l.created_by, c.id)
$$;
revoke execute on function open_link(bytea, bigint, integer) from public;
grant execute on function open_link(bytea, bigint, integer) to authenticated, service_role;
