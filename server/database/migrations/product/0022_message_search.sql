-- What was said, as it is searched: folded, beside its owner and its place in time. A search reads one person's texts
-- newest first and ends at the hits that it shows. Equality on the owner keeps its index under the policy, which no text
-- operator would; looking through 50,000 messages for a word that none of them holds takes 25 to 50 ms.

-- Lower case, compatibility forms made plain, accents and what else is written or left out at will taken off.
-- `foldCharacter` of server/conversations/snippet.ts does the same, to mark hits.
create function fold_text(given text) returns text
  language sql immutable strict parallel safe set search_path = ''
  return case
    when octet_length(given) = char_length(given) then lower(given collate "C")
    else replace(
      regexp_replace(
        lower(normalize(given, nfkd) collate "und-x-icu") collate "C",
        '[\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+', '', 'g'
      ), 'ς', 'σ')
  end;
grant execute on function fold_text(text) to authenticated, service_role;

create table message_texts (
  message_id uuid primary key references messages on delete cascade,
  owner uuid not null references auth.users on delete cascade,
  position bigint not null,
  text text collate "C" not null
);
create index message_texts_owner_position_idx on message_texts (owner, position desc);
-- To be read in one go: neither compressed nor, below 8 kB, moved out of the row.
alter table message_texts alter column text set storage external;
alter table message_texts set (toast_tuple_target = 8160);

alter table message_texts enable row level security;
alter table message_texts force row level security;

create policy "owner searches own messages" on message_texts
  for select to authenticated using (owner = (select auth.uid()));

grant select on message_texts to authenticated;
grant select, insert, update, delete on message_texts to service_role;

create function tg_messages__fold_text() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.message_texts as t (message_id, owner, position, text)
  select new.id, c.uid, new.position, public.fold_text(new.content)
  from public.conversations c where c.id = new.conversation_id
  on conflict (message_id) do update set text = excluded.text;
  return null;
end
$$;
-- What tools answered is not what anybody said.
create trigger tg_messages__fold_text after insert or update of content on messages
  for each row when (new.sender_role in (1, 2)) execute function tg_messages__fold_text();

insert into message_texts (message_id, owner, position, text)
select m.id, c.uid, m.position, fold_text(m.content)
from messages m join conversations c on c.id = m.conversation_id
where m.sender_role in (1, 2);
