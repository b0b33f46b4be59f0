-- The inverted index in packed segments, in place of one row for each term of each document. A document begins as a
-- segment of its own; a job merges small segments, so that the index stays small and a search reads few rows.
drop function search_passages(text[], real[], uuid[], integer);
drop table postings;

create table search_segments (
  segment bigint generated always as identity primary key,
  owner uuid not null references auth.users on delete cascade,
  -- Terms are spread over this many rows of search_buckets by their hash: a power of two.
  buckets integer not null check (buckets > 0),
  -- Passages are numbered from 0 in each segment; those of removed documents keep their numbers until a merge.
  passages integer not null check (passages > 0),
  -- Length of each passage in words, two bytes each, low byte first.
  lengths bytea not null,
  -- First number and count of the passages of each document that is gone, flat: {first, count, first, count, ...}.
  dead integer[] not null default '{}'
);
create index search_segments_owner_idx on search_segments (owner);

alter table search_segments enable row level security;
alter table search_segments force row level security;

create policy "owner reads own segments" on search_segments
  for select to authenticated using (owner = (select auth.uid()));

grant select on search_segments to authenticated;
grant select, insert, update, delete on search_segments to service_role;

-- Terms with their postings, in the format of server/documents/segment-format.ts. Packed tightly already, so that
-- compressing it again would cost time and win nothing.
create table search_buckets (
  segment bigint not null references search_segments on delete cascade,
  bucket integer not null check (bucket >= 0),
  owner uuid not null,
  content bytea not null,
  primary key (segment, bucket)
);
alter table search_buckets alter column content set storage external;

alter table search_buckets enable row level security;
alter table search_buckets force row level security;

create policy "owner reads own buckets" on search_buckets
  for select to authenticated using (owner = (select auth.uid()));

grant select on search_buckets to authenticated;
grant select, insert, update, delete on search_buckets to service_role;

-- The words of a large segment by their length in characters, to find those that a misspelt one may stand for. A segment
-- of few buckets is its own vocabulary and has no row here.
create table search_vocabulary (
  segment bigint not null references search_segments on delete cascade,
  length smallint not null check (length > 0),
  owner uuid not null,
  content text not null,
  primary key (segment, length)
);

alter table search_vocabulary enable row level security;
alter table search_vocabulary force row level security;

create policy "owner reads own vocabulary" on search_vocabulary
  for select to authenticated using (owner = (select auth.uid()));

grant select on search_vocabulary to authenticated;
grant select, insert, update, delete on search_vocabulary to service_role;

-- Where a document's passages are: numbers first_passage to first_passage + passages - 1 of its segment. A document
-- without any text has no segment. What was indexed before is indexed anew in the background.
delete from document_index;
alter table document_index
  add column segment bigint references search_segments on delete cascade,
  add column first_passage integer not null check (first_passage >= 0);
create index document_index_segment_idx on document_index (segment, first_passage);

-- Passage numbers may exceed sixteen bits now.
alter table passages drop constraint passages_passage_check;
alter table passages add check (passage >= 0);

-- Marks the passages of a removed document, or drops the segment that held nothing else. Counting stays exact: what is
-- marked is neither found nor counted.
create function tg_document_index__bury() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if old.segment is not null then
    update public.search_segments set dead = dead || array[old.first_passage, old.passages]
    where segment = old.segment;
    delete from public.search_segments s
    where s.segment = old.segment
      and not exists (select from public.document_index i where i.segment = s.segment);
  end if;
  return null;
end
$$;
create trigger tg_document_index__bury after delete on document_index
  for each row execute function tg_document_index__bury();

-- As before, but a document without any text says nothing about the languages of a library.
create or replace function tg_document_index__total() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into public.search_stats as s (owner, passages, length, languages)
    values (
      new.owner, new.passages, new.length,
      case when new.passages = 0 then '{}'::text[] else array[new.language] end
    )
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
