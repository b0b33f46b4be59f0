-- The same as in 0009, for databases where that was applied when it still set a parameter that only a superuser may name.
create or replace function tg_users__remove_files() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects
  where bucket_id = 'documents' and name collate "C" >= old.id || '/' and name collate "C" < old.id || '0';
  return null;
end
$$;
alter function tg_users__remove_files() reset all;
alter function tg_users__remove_files() set search_path = '';
