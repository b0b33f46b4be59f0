-- A person agreed that an endpoint of this server, at this address, receives the texts of their documents and questions for
-- search by meaning. Where the operator moves the endpoint to another address, the agreement no longer holds.
create table embeddings_consents (
  owner uuid primary key default auth.uid() references auth.users on delete cascade,
  address text not null check (char_length(address) <= 500 and address ~ '^https?://[^[:space:]]+$'),
  model text not null check (char_length(model) between 1 and 150),
  -- The model of its vectors, as `serverKeyPrefix` of server/connections/personal-embedders.ts writes it.
  embeddings_key text not null generated always as ('server:' || address || ' ' || model) stored,
  created_at timestamptz not null default now()
);

alter table embeddings_consents enable row level security;
alter table embeddings_consents force row level security;

create policy "owner reads own embeddings consent" on embeddings_consents
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner gives own embeddings consent" on embeddings_consents
  for insert to authenticated with check (owner = (select auth.uid()));
create policy "owner withdraws own embeddings consent" on embeddings_consents
  for delete to authenticated using (owner = (select auth.uid()));

grant select, delete on embeddings_consents to authenticated;
grant insert (owner, address, model) on embeddings_consents to authenticated;
grant select, insert, update, delete on embeddings_consents to service_role;

-- The last failure of a person's model to give passages vectors; it is deleted when the model succeeds.
create table embeddings_failures (
  owner uuid primary key references auth.users on delete cascade,
  model text not null,
  message text not null check (char_length(message) <= 500),
  failed_at timestamptz not null default now()
);

alter table embeddings_failures enable row level security;
alter table embeddings_failures force row level security;

create policy "owner reads why own embeddings failed" on embeddings_failures
  for select to authenticated using (owner = (select auth.uid()));

grant select on embeddings_failures to authenticated;
grant select, insert, update, delete on embeddings_failures to service_role;

-- Deletes the vectors of all models that a person chose, unless one is still chosen: its vectors then replace the others
-- once they cover the library. Failures go either way: a model that was tested and chosen once more does not wait.
create function forget_chosen_vectors(of_owner uuid) returns void
  language plpgsql volatile set search_path = ''
as $$
begin
  delete from public.embeddings_failures f
    where f.owner = of_owner and (starts_with(f.model, 'endpoint:') or starts_with(f.model, 'server:'));
  if exists (select from public.own_providers o where o.owner = of_owner and o.embeddings_key is not null)
    or exists (select from public.embeddings_consents c where c.owner = of_owner)
  then
    return;
  end if;
  delete from public.embedded_documents e
    where e.owner = of_owner and (starts_with(e.model, 'endpoint:') or starts_with(e.model, 'server:'));
  delete from public.passage_vectors v
    where v.owner = of_owner and (starts_with(v.model, 'endpoint:') or starts_with(v.model, 'server:'));
  delete from public.vector_usage u
    where u.owner = of_owner and (starts_with(u.model, 'endpoint:') or starts_with(u.model, 'server:'));
end
$$;
revoke all on function forget_chosen_vectors(uuid) from public;

create function tg_embeddings_choices__forget_vectors() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform public.forget_chosen_vectors(old.owner);
  return null;
end
$$;
revoke all on function tg_embeddings_choices__forget_vectors() from public;

-- At the end of the transaction, which may choose another model.
create constraint trigger tg_embeddings_consents__forget_vectors after delete on embeddings_consents
  deferrable initially deferred for each row execute function tg_embeddings_choices__forget_vectors();
create constraint trigger tg_own_providers__forget_other_vectors after delete or update of embeddings_model on own_providers
  deferrable initially deferred for each row when (old.embeddings_model is not null)
  execute function tg_embeddings_choices__forget_vectors();
