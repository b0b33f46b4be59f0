-- A model of a person's own provider that gives their passages vectors, in place of the operator's.
alter table own_providers
  add column embeddings_model text check (char_length(embeddings_model) between 1 and 150),
  -- What its vectors are keyed by, as `ownIdentifier` of server/providers/choose.ts writes it: a model of the same name elsewhere is another one.
  add column embeddings_key text generated always as ('endpoint:' || id::text || '/' || embeddings_model) stored,
  add check (kind <> 'anthropic' or embeddings_model is null);
create unique index own_providers_embeddings_idx on own_providers (owner) where embeddings_model is not null;

create policy "owner changes own providers" on own_providers
  for update to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
grant select (embeddings_model), insert (embeddings_model), update (embeddings_model) on own_providers to authenticated;

-- Nobody can ask a question of vectors whose provider is gone. Asked at the end: one that only gets another key is removed
-- and comes back under the same id.
create function tg_own_providers__forget_vectors() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (select from public.own_providers o where o.id = old.id and o.owner = old.owner) then
    return null;
  end if;
  delete from public.embedded_documents e where e.owner = old.owner and starts_with(e.model, 'endpoint:' || old.id || '/');
  delete from public.passage_vectors v where v.owner = old.owner and starts_with(v.model, 'endpoint:' || old.id || '/');
  return null;
end
$$;
create constraint trigger tg_own_providers__forget_vectors after delete on own_providers
  deferrable initially deferred for each row execute function tg_own_providers__forget_vectors();
