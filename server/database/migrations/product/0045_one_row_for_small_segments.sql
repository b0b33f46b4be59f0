-- Less space beside the text. A small segment is one row now (server/documents/stored-bucket.ts); totals and vocabularies,
-- which had tables of their own, stand with the segments and beside their buckets.

alter table search_segments
  -- Of the passages that are still there, in words.
  add column length bigint not null default 0,
  -- Of its documents; one that is gone leaves its own behind until the next merge.
  add column languages text[] not null default '{}';

update search_segments s set length = t.length, languages = t.languages
from (
  select segment, sum(length) as length, array_agg(distinct language) as languages
  from document_index where segment is not null group by segment
) as t
where s.segment = t.segment;

drop trigger tg_document_index__total on document_index;
drop function tg_document_index__total();
drop table search_stats;

-- Below 0 stand the words of a segment, by their length: -5 is the row of those of five letters.
alter table search_buckets drop constraint search_buckets_bucket_check;
insert into search_buckets (segment, bucket, owner, content) select segment, -length, owner, content from search_vocabulary;
drop table search_vocabulary;

-- Found by the owner; the key of one serves for that as well.
alter table search_buckets drop constraint search_buckets_segment_fkey;
alter table document_index drop constraint document_index_segment_fkey;
alter table search_segments drop constraint search_segments_pkey, add primary key (owner, segment);
drop index search_segments_owner_idx;
alter table search_buckets
  add foreign key (owner, segment) references search_segments (owner, segment) on delete cascade;
alter table document_index
  add foreign key (owner, segment) references search_segments (owner, segment) on delete cascade;

create or replace function tg_document_index__bury() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if old.segment is not null then
    update public.search_segments
    set dead = dead || array[old.first_passage, old.passages], length = length - old.length
    where owner = old.owner and segment = old.segment;
    delete from public.search_segments s
    where s.owner = old.owner and s.segment = old.segment
      and not exists (select from public.document_index i where i.segment = s.segment);
  end if;
  return null;
end
$$;
