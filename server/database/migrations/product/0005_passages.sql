-- Passages of about 1,000 characters and their inverted index, ranked by BM25. All of a document's postings are written
-- in one transaction and go with it; everything is keyed by owner, so a search costs what one person's library costs.

-- A range of a page's text, in UTF-16 code units. The text itself stays in document_pages.
create table passages (
  document_id uuid not null references documents on delete cascade,
  owner uuid not null references auth.users on delete cascade,
  passage integer not null check (passage between 0 and 65535),
  page integer not null check (page > 0),
  "start" integer not null check ("start" >= 0),
  "end" integer not null check ("end" > "start"),
  heading text,
  primary key (document_id, passage)
);
create index passages_owner_idx on passages (owner);

alter table passages enable row level security;
alter table passages force row level security;

create policy "owner reads passages of own documents" on passages
  for select to authenticated using (owner = (select auth.uid()));

grant select on passages to authenticated;
grant select, insert, update, delete on passages to service_role;

-- Where a term occurs in one document. Each element of `packed` is one passage:
-- passage number << 16 | min(occurrences, 63) << 10 | min(length of the passage in terms, 1023).
create table postings (
  owner uuid not null references auth.users on delete cascade,
  document_id uuid not null references documents on delete cascade,
  term text not null,
  packed integer[] not null
);
create index postings_owner_term_idx on postings (owner, term);
create index postings_document_id_idx on postings (document_id);

alter table postings enable row level security;
alter table postings force row level security;

create policy "owner reads postings of own documents" on postings
  for select to authenticated using (owner = (select auth.uid()));

grant select on postings to authenticated;
grant select, insert, update, delete on postings to service_role;

-- What a document's postings were made with. A document whose tokenizer or file name is another by now is indexed anew;
-- until then the old postings answer.
create table document_index (
  document_id uuid primary key references documents on delete cascade,
  owner uuid not null references auth.users on delete cascade,
  tokenizer text not null,
  language text not null,
  filename text not null,
  passages integer not null,
  length bigint not null
);
create index document_index_owner_idx on document_index (owner);

alter table document_index enable row level security;
alter table document_index force row level security;

create policy "owner reads index entries of own documents" on document_index
  for select to authenticated using (owner = (select auth.uid()));

grant select on document_index to authenticated;
grant select, insert, update, delete on document_index to service_role;

-- Totals over a person's library: counting them would cost more than the search. `languages` only ever grows.
create table search_stats (
  owner uuid primary key references auth.users on delete cascade,
  passages integer not null default 0,
  length bigint not null default 0,
  languages text[] not null default '{}'
);

alter table search_stats enable row level security;
alter table search_stats force row level security;

create policy "owner reads own search totals" on search_stats
  for select to authenticated using (owner = (select auth.uid()));

grant select on search_stats to authenticated;
grant select, insert, update, delete on search_stats to service_role;

create function tg_document_index__total() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into public.search_stats as s (owner, passages, length, languages)
    values (new.owner, new.passages, new.length, array[new.language])
    on conflict (owner) do update set
      passages = s.passages + excluded.passages,
      length = s.length + excluded.length,
      languages = case when s.languages @> excluded.languages then s.languages else s.languages || excluded.languages end;
  else
    update public.search_stats s set passages = s.passages - old.passages, length = s.length - old.length
    where s.owner = old.owner;
  end if;
  return null;
end
$$;
create trigger tg_document_index__total after insert or delete on document_index
  for each row execute function tg_document_index__total();

-- BM25 (k1 1.2, b 0.75) over the caller's own passages: the policies decide whose they are, no parameter does.
-- `terms[i]` weighs `weights[i]`. All arithmetic is float8: numeric constants would cost more than the reading.
create function search_passages(
  terms text[], weights real[], document_ids uuid[] default null, max_results integer default 8
) returns table (document_id uuid, passage integer, score real)
  language sql stable security invoker set search_path = ''
as $$
  with totals as materialized (
    select s.passages::float8 as passages, 0.9::float8 * s.passages / greatest(s.length, 1) as per_length
    from public.search_stats s where s.owner = (select auth.uid())
  ),
  found as materialized (
    select p.document_id, p.term, asked.weight, p.packed
    from unnest(search_passages.terms, search_passages.weights) as asked (term, weight)
    join public.postings p on p.term = asked.term
    where p.owner = (select auth.uid())
  ),
  -- How many passages hold a term is the number of postings just read.
  rarity as materialized (
    select counted.term, ln(1 + (t.passages - counted.holding + 0.5::float8) / (counted.holding + 0.5::float8)) as idf
    from (select f.term, sum(cardinality(f.packed))::float8 as holding from found f group by f.term) as counted
    cross join totals t
  ),
  postings as (
    select f.document_id, f.weight * r.idf * 2.2::float8 as weight, t.per_length, unnest(f.packed) as posting
    from found f join rarity r on r.term = f.term cross join totals t
    where search_passages.document_ids is null or f.document_id = any (search_passages.document_ids)
  )
  select p.document_id, (p.posting >> 16) & 65535, sum(
      p.weight * ((p.posting >> 10) & 63) / (((p.posting >> 10) & 63) + 0.3::float8 + p.per_length * (p.posting & 1023))
    )::real as score
  from postings p
  group by 1, 2
  order by score desc, 1, 2
  limit search_passages.max_results
$$;
grant execute on function search_passages(text[], real[], uuid[], integer) to authenticated;
