create table models (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  version text not null,
  model_identifier text not null unique,
  provider text not null,
  family text not null,
  is_default boolean not null default false,
  is_visible boolean not null default true,
  context_window integer not null check (context_window > 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

alter table models enable row level security;
alter table models force row level security;

create policy "everyone signed in reads the models" on models for select to authenticated using (true);

grant select on models to authenticated;
grant select, insert, update, delete on models to service_role;

-- created_at orders the models of a provider: the first is the one that is chosen when that provider gets a key.
insert into models (name, version, model_identifier, provider, family, is_default, context_window, created_at)
values
  ('Alcove Reader', '1', 'alcove-reader', 'Alcove', 'reader', true, 32000, '2025-01-01'),
  ('Claude Sonnet 4.5', '4.5', 'claude-sonnet-4-5', 'Anthropic', 'claude', false, 200000, '2025-01-02'),
  ('Claude Opus 4.5', '4.5', 'claude-opus-4-5', 'Anthropic', 'claude', false, 200000, '2025-01-03'),
  ('Claude Haiku 4.5', '4.5', 'claude-haiku-4-5', 'Anthropic', 'claude', false, 200000, '2025-01-04'),
  ('Claude 3.7 Sonnet', '3.7', 'claude-3-7-sonnet-latest', 'Anthropic', 'claude', false, 200000, '2025-01-05'),
  ('GPT-5', '5', 'gpt-5', 'OpenAI', 'gpt', false, 400000, '2025-01-02'),
  ('GPT-5 mini', '5', 'gpt-5-mini', 'OpenAI', 'gpt', false, 400000, '2025-01-03'),
  ('GPT-4o', '4o', 'gpt-4o', 'OpenAI', 'gpt', false, 128000, '2025-01-04'),
  ('GPT-4o mini', '4o', 'gpt-4o-mini', 'OpenAI', 'gpt', false, 128000, '2025-01-05');
