-- Providers of models that a person has connected: an own key for a known one, or an own endpoint. The server seals the
-- key together with owner, name and address; no role of people can read that column.
create table own_providers (
  id uuid primary key default gen_random_uuid(),
  owner uuid not null default auth.uid() references auth.users on delete cascade,
  kind text not null check (kind in ('anthropic', 'openai', 'compatible')),
  name text not null check (char_length(name) between 1 and 60),
  base_url text check (char_length(base_url) <= 500),
  sealed_key bytea check (octet_length(sealed_key) <= 2000),
  last_four text check (char_length(last_four) <= 4),
  created_at timestamptz not null default now(),
  unique (owner, name),
  check (
    case kind
      when 'anthropic' then name = 'Anthropic' and base_url is null and sealed_key is not null
      when 'openai' then name = 'OpenAI' and base_url is null and sealed_key is not null
      else base_url is not null and name not in ('Anthropic', 'OpenAI', 'OpenAI-compatible', 'Alcove')
    end
  )
);

alter table own_providers enable row level security;
alter table own_providers force row level security;

create policy "owner reads own providers" on own_providers
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner connects own providers" on own_providers
  for insert to authenticated with check (owner = (select auth.uid()));
create policy "owner removes own providers" on own_providers
  for delete to authenticated using (owner = (select auth.uid()));

grant select (id, owner, kind, name, base_url, last_four, created_at) on own_providers to authenticated;
grant insert (id, owner, kind, name, base_url, sealed_key, last_four) on own_providers to authenticated;
grant delete on own_providers to authenticated;
grant select, insert, update, delete on own_providers to service_role;

-- Models of an own endpoint are that person's alone; all others are everyone's.
alter table models
  add column owner uuid references auth.users on delete cascade,
  add column own_provider uuid references own_providers on delete cascade,
  add check ((owner is null) = (own_provider is null));
create index models_own_provider_idx on models (own_provider) where own_provider is not null;
create index models_owner_idx on models (owner) where owner is not null;

drop policy "everyone signed in reads the models" on models;
create policy "everyone signed in reads the shared models" on models
  for select to authenticated using (owner is null);
create policy "owner reads models of own providers" on models
  for select to authenticated using (owner = (select auth.uid()));

-- The generation of late 2026. Earlier models leave the picker and still answer the conversations that use them.
update models set is_visible = false, updated_at = now()
where model_identifier in (
  'claude-sonnet-4-5', 'claude-opus-4-5', 'claude-haiku-4-5', 'gpt-5', 'gpt-5-mini', 'gpt-4o', 'gpt-4o-mini'
);
update models set model_identifier = 'claude-3-7-sonnet-20250219', updated_at = now()
where model_identifier = 'claude-3-7-sonnet-latest';
insert into models (name, version, model_identifier, provider, family, context_window, created_at)
values
  ('Claude Sonnet 5.5', '5.5', 'claude-sonnet-5-5', 'Anthropic', 'claude', 1000000, '2024-01-02'),
  ('Claude Opus 5.5', '5.5', 'claude-opus-5-5', 'Anthropic', 'claude', 1000000, '2024-01-03'),
  ('Claude Haiku 5.5', '5.5', 'claude-haiku-5-5', 'Anthropic', 'claude', 1000000, '2024-01-04'),
  ('Claude Fable 5.1', '5.1', 'claude-fable-5-1', 'Anthropic', 'claude', 1000000, '2024-01-05'),
  ('GPT-6.1 Sol', '6.1', 'gpt-6.1-sol', 'OpenAI', 'gpt', 1050000, '2024-01-02'),
  ('GPT-6 Astra', '6', 'gpt-6-astra', 'OpenAI', 'gpt', 1050000, '2024-01-03'),
  ('GPT-6.1 Terra', '6.1', 'gpt-6.1-terra', 'OpenAI', 'gpt', 1050000, '2024-01-04'),
  ('GPT-6 Luna', '6', 'gpt-6-luna', 'OpenAI', 'gpt', 1050000, '2024-01-05')
on conflict (model_identifier) do nothing;
