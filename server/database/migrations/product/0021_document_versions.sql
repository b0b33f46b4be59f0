-- A newer file of a document is a row of its own in the same series, so that whatever cites a version goes on naming it.
-- `superseded_at` is set when a newer version is ready: the older one can be opened, and is not searched any more.
alter table documents
  add column series uuid,
  add column version integer not null default 1 check (version > 0),
  add column superseded_at timestamptz;
update documents set series = id;

create function tg_documents__begin_series() returns trigger
  language plpgsql volatile security invoker set search_path = ''
as $$
begin
  new.series = coalesce(new.series, new.id);
  return new;
end
$$;
create trigger tg_documents__begin_series before insert on documents
  for each row execute function tg_documents__begin_series();

alter table documents alter column series set not null;
create unique index documents_series_version_key on documents (series, version);

-- All versions bear one name.
create function tg_documents__rename_versions() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.documents d set filename = new.filename
  where d.series = new.series and d.owner = new.owner and d.filename <> new.filename;
  return null;
end
$$;
create trigger tg_documents__rename_versions after update of filename on documents
  for each row when (old.filename is distinct from new.filename) execute function tg_documents__rename_versions();

-- The version in use takes the others with it; one that could not be read, or was replaced, goes alone.
create function tg_documents__delete_versions() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from public.documents d where d.series = old.series and d.owner = old.owner;
  return null;
end
$$;
create trigger tg_documents__delete_versions after delete on documents
  for each row when (old.state = 'ready' and old.superseded_at is null) execute function tg_documents__delete_versions();
