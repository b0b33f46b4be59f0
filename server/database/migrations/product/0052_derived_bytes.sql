-- The pages, the index and the vectors of a file count with it.
alter table documents add column page_bytes bigint not null default 0;
alter table document_index add column bytes bigint not null default 0;

-- Per model, because the vectors of an earlier one stay until a later one has read the whole library.
create table vector_usage (
  owner uuid not null references auth.users (id) on delete cascade,
  model text not null,
  document_id uuid not null references document_index (document_id) on delete cascade,
  bytes bigint not null,
  primary key (owner, model, document_id)
);
create index vector_usage_document_id_idx on vector_usage (document_id);
alter table vector_usage enable row level security;
alter table vector_usage force row level security;
create policy "owner reads own usage of vectors" on vector_usage for select to authenticated
  using (owner = (select auth.uid()));
grant select on vector_usage to authenticated;
grant select, insert, update, delete on vector_usage to service_role;

-- Stored sizes: reading them does not decompress the values.
create function page_bytes(document uuid) returns bigint
  language sql stable set search_path = ''
as $$
  select coalesce(sum(128 + pg_column_size(p.text) + coalesce(pg_column_size(p.items), 0)
    + coalesce(pg_column_size(p.headings), 0) + coalesce(pg_column_size(p.rows), 0) + coalesce(pg_column_size(p.columns), 0)
    + coalesce(pg_column_size(p.boxes), 0) + coalesce(pg_column_size(p.blocks), 0)), 0)::bigint
  from public.document_pages p where p.document_id = document
$$;
revoke execute on function page_bytes(uuid) from public;

create function passage_bytes(document uuid) returns bigint
  language sql stable set search_path = ''
as $$
  select coalesce(sum(160 + coalesce(octet_length(p.heading), 0)), 0)::bigint
  from public.passages p where p.document_id = document
$$;
revoke execute on function passage_bytes(uuid) from public;

create function segment_bytes(number bigint) returns bigint
  language sql stable set search_path = ''
as $$
  select coalesce(sum(64 + octet_length(b.content)), 0)::bigint from public.search_buckets b where b.segment = number
$$;
revoke execute on function segment_bytes(bigint) from public;

create function vector_bytes(model text, vector bytea) returns bigint
  language sql immutable parallel safe set search_path = ''
as $$ select (160 + 2 * octet_length(model) + octet_length(vector) + octet_length(vector) / 32)::bigint $$;
revoke execute on function vector_bytes(text, bytea) from public;

-- The rows that exist, before anything counts changes of these columns, and without telling the outbox of them.
alter table documents disable trigger user;
update documents d set page_bytes = page_bytes(d.id) where d.parsed_at is not null;
alter table documents enable trigger user;
alter table document_index disable trigger user;
update document_index i set bytes = passage_bytes(i.document_id) + coalesce(
  (select segment_bytes(s.segment) * i.passages / s.passages from search_segments s
   where s.owner = i.owner and s.segment = i.segment), 0);
alter table document_index enable trigger user;
insert into vector_usage (owner, model, document_id, bytes)
select v.owner, v.model, v.document_id, sum(vector_bytes(v.model, v.vector))
from passage_vectors v join document_index i on i.document_id = v.document_id group by 1, 2, 3;
insert into usage as u (owner, file_bytes)
select b.owner, sum(b.bytes) from (
  select owner, page_bytes as bytes from documents
  union all select owner, bytes from document_index
  union all select owner, bytes from vector_usage
) b where b.bytes > 0 group by b.owner
on conflict (owner) do update set file_bytes = u.file_bytes + excluded.file_bytes;

drop trigger tg_usage__insert on documents;
drop trigger tg_usage__delete on documents;
create trigger tg_usage__insert after insert on documents referencing new table as new_rows
  for each statement execute function tg_count_usage('r.owner', 'public.file_size(r.size) + r.page_bytes', '0');
create trigger tg_usage__delete after delete on documents referencing old table as old_rows
  for each statement execute function tg_count_usage('r.owner', 'public.file_size(r.size) + r.page_bytes', '0');

create function tg_documents__measure_pages() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  new.page_bytes := case when new.parsed_at is null then 0 else public.page_bytes(new.id) end;
  return new;
end
$$;
create trigger tg_documents__measure_pages before update of parsed_at on documents
  for each row execute function tg_documents__measure_pages();

create function tg_documents__count_pages() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform public.count_usage(new.owner, new.page_bytes - old.page_bytes, 0);
  return null;
end
$$;
create trigger tg_documents__count_pages after update on documents
  for each row when (old.page_bytes <> new.page_bytes) execute function tg_documents__count_pages();

-- A document that is indexed has a segment of its own, which merges do not enlarge.
create function tg_document_index__measure() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  new.bytes := public.passage_bytes(new.document_id) + public.segment_bytes(new.segment);
  return new;
end
$$;
create trigger tg_document_index__measure before insert on document_index
  for each row execute function tg_document_index__measure();

create function tg_count_bytes() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    perform public.count_usage(old.owner, -old.bytes, 0);
  elsif tg_op = 'INSERT' then
    perform public.count_usage(new.owner, new.bytes, 0);
  else
    perform public.count_usage(new.owner, new.bytes - old.bytes, 0);
  end if;
  return null;
end
$$;
create trigger tg_document_index__count after insert or delete on document_index
  for each row execute function tg_count_bytes();
create trigger tg_vector_usage__count after insert or delete or update of bytes on vector_usage
  for each row execute function tg_count_bytes();

create function tg_passage_vectors__count() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.vector_usage as u (owner, model, document_id, bytes)
  select v.owner, v.model, v.document_id, sum(public.vector_bytes(v.model, v.vector))
  from new_rows v join public.document_index i on i.document_id = v.document_id group by 1, 2, 3
  on conflict (owner, model, document_id) do update set bytes = u.bytes + excluded.bytes;
  return null;
end
$$;
create trigger tg_passage_vectors__count after insert on passage_vectors referencing new table as new_rows
  for each statement execute function tg_passage_vectors__count();

-- As before, and their usage.
create or replace function tg_own_providers__forget_vectors() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (select from public.own_providers o where o.id = old.id and o.owner = old.owner) then
    return null;
  end if;
  delete from public.embedded_documents e where e.owner = old.owner and starts_with(e.model, 'endpoint:' || old.id || '/');
  delete from public.passage_vectors v where v.owner = old.owner and starts_with(v.model, 'endpoint:' || old.id || '/');
  delete from public.vector_usage u where u.owner = old.owner and starts_with(u.model, 'endpoint:' || old.id || '/');
  return null;
end
$$;

-- For a job that keeps more about the files of a person.
create function require_file_room(person uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  used public.usage;
begin
  select person, coalesce(sum(b.bytes), 0) + 1, 0 into used from (
    select u.file_bytes as bytes from public.usage u where u.owner = person
    union all select c.file_bytes from public.usage_changes c where c.owner = person
  ) b;
  perform public.enforce_quotas(used, 1, 0);
end
$$;
revoke execute on function require_file_room(uuid) from public;
grant execute on function require_file_room(uuid) to service_role;
