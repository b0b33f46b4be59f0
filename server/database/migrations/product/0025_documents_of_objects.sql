-- A file that was put into the bucket `documents` is a document too, and goes with it. The name below the bucket; null for
-- documents that came by an upload of the product.
alter table documents add column object_name text;
create index documents_object_name_idx on documents (object_name) where object_name is not null;

create function tg_objects__follow_document() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    delete from public.documents where object_name = old.name;
  else
    update public.documents set object_name = new.name where object_name = old.name;
  end if;
  return null;
end
$$;
create trigger tg_objects__remove_document after delete on storage.objects
  for each row when (old.bucket_id = 'documents') execute function tg_objects__follow_document();
create trigger tg_objects__rename_document after update of name on storage.objects
  for each row when (old.bucket_id = 'documents' and old.name is distinct from new.name)
  execute function tg_objects__follow_document();
