create table documents (
  id uuid primary key default gen_random_uuid(),
  owner uuid not null default auth.uid() references auth.users on delete cascade,
  filename text not null check (char_length(filename) between 1 and 255),
  originalname text not null,
  mimetype text not null,
  size integer not null,
  path text not null,
  uploaded_at timestamptz default now(),
  sha256 text not null,
  state text not null default 'queued' check (state in ('queued', 'reading', 'ready', 'failed')),
  pages integer,
  pages_done integer not null default 0,
  error jsonb,
  -- Counts of pages: how they were read, and which could not be.
  readability jsonb,
  -- Counts every time a worker begins on it; whatever an older attempt still writes is refused.
  attempt integer not null default 0,
  -- Beginnings that neither finished nor were handed back, so that a file that takes its reader down is given up.
  tries integer not null default 0,
  -- All pages are stored: a later attempt goes on from here.
  parsed_at timestamptz,
  unique (owner, sha256)
);
create index documents_owner_uploaded_at_idx on documents (owner, uploaded_at desc);
create index documents_unfinished_idx on documents (id) where state in ('queued', 'reading');

alter table documents enable row level security;
alter table documents force row level security;

create policy "owner reads own documents" on documents
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner renames own documents" on documents
  for update to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
create policy "owner deletes own documents" on documents
  for delete to authenticated using (owner = (select auth.uid()));

grant select, delete on documents to authenticated;
grant update (filename) on documents to authenticated;
grant select, insert, update, delete on documents to service_role;

alter publication supabase_realtime add table documents;

-- The text of one page (a sheet or a section, where the format has no pages). `items` maps it to the viewer's text layer,
-- `headings` are [offset, text], `rows` [offset, row of the sheet], `boxes` the places of words that OCR read.
create table document_pages (
  document_id uuid not null references documents on delete cascade,
  owner uuid not null references auth.users on delete cascade,
  page integer not null check (page > 0),
  text text not null,
  items jsonb,
  headings jsonb,
  rows jsonb,
  boxes jsonb,
  -- Of OCR, 0 to 100; null where the file itself holds the text.
  confidence smallint,
  is_cut boolean not null default false,
  primary key (document_id, page)
);
create index document_pages_owner_idx on document_pages (owner);

alter table document_pages enable row level security;
alter table document_pages force row level security;

create policy "owner reads pages of own documents" on document_pages
  for select to authenticated using (owner = (select auth.uid()));

grant select on document_pages to authenticated;
grant select, insert, update, delete on document_pages to service_role;

-- Bytes whose row is gone; a job removes them from the blob store, so that a delete is one transaction.
-- No person may read or write it, hence no policy.
create table discarded_blobs (
  path text primary key,
  discarded_at timestamptz not null default now()
);
alter table discarded_blobs enable row level security;
alter table discarded_blobs force row level security;
grant select, insert, delete on discarded_blobs to service_role;

create function tg_documents__discard_blob() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.discarded_blobs (path) values (old.path) on conflict do nothing;
  return old;
end
$$;
create trigger tg_documents__discard_blob after delete on documents
  for each row execute function tg_documents__discard_blob();
