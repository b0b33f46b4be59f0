-- What a person puts below the own folder of this bucket is theirs alone.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values (
  'documents', 'documents', false, 26214400,
  array[
    'application/pdf', 'application/msword', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'text/plain',
    'image/jpeg', 'image/png'
  ]
)
on conflict (id) do nothing;

create policy "owner reads files below own folder" on storage.objects
  for select to authenticated
  using (bucket_id = 'documents' and (storage.foldername(name))[1] = (select auth.uid())::text);
create policy "owner stores files below own folder" on storage.objects
  for insert to authenticated
  with check (bucket_id = 'documents' and (storage.foldername(name))[1] = (select auth.uid())::text);
create policy "owner changes files below own folder" on storage.objects
  for update to authenticated
  using (bucket_id = 'documents' and (storage.foldername(name))[1] = (select auth.uid())::text)
  with check (bucket_id = 'documents' and (storage.foldername(name))[1] = (select auth.uid())::text);
create policy "owner removes files below own folder" on storage.objects
  for delete to authenticated
  using (bucket_id = 'documents' and (storage.foldername(name))[1] = (select auth.uid())::text);

-- Files go with their owner's account. Supabase's own storage refuses a delete that does not say that it means it.
create function tg_users__remove_files() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects
  where bucket_id = 'documents' and name collate "C" >= old.id || '/' and name collate "C" < old.id || '0';
  return null;
end
$$;
create trigger tg_users__remove_files after delete on auth.users
  for each row execute function tg_users__remove_files();
