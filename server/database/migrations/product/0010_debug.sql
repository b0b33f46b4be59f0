-- The channel of the debug panel: what a person sends there, that person alone hears.
create policy "person hears own debug channel" on realtime.messages
  for select to authenticated
  using (extension = 'broadcast' and (select realtime.topic()) = 'debug:' || (select auth.uid()));
create policy "person sends to own debug channel" on realtime.messages
  for insert to authenticated
  with check (extension = 'broadcast' and (select realtime.topic()) = 'debug:' || (select auth.uid()));
