-- What a person has chosen and how far the onboarding is, one row each.
create table user_settings (
  owner uuid primary key default auth.uid() references auth.users on delete cascade,
  onboarding_dismissed boolean not null default false,
  walkthrough_finished boolean not null default false,
  preferences jsonb not null default '{}',
  updated_at timestamptz not null default now()
);

alter table user_settings enable row level security;
alter table user_settings force row level security;

create policy "owner reads own settings" on user_settings
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner creates own settings" on user_settings
  for insert to authenticated with check (owner = (select auth.uid()));
create policy "owner changes own settings" on user_settings
  for update to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));

grant select on user_settings to authenticated;
grant insert (owner, onboarding_dismissed, walkthrough_finished, preferences) on user_settings to authenticated;
grant update (onboarding_dismissed, walkthrough_finished, preferences) on user_settings to authenticated;
grant select, insert, update, delete on user_settings to service_role;

create table message_feedback (
  message_id uuid primary key references messages on delete cascade,
  owner uuid not null default auth.uid() references auth.users on delete cascade,
  rating smallint not null check (rating in (-1, 1)),
  reason text,
  created_at timestamptz not null default now()
);
create index message_feedback_owner_idx on message_feedback (owner);

alter table message_feedback enable row level security;
alter table message_feedback force row level security;

create policy "owner reads own feedback" on message_feedback
  for select to authenticated using (owner = (select auth.uid()));
create policy "owner rates answers that it can read" on message_feedback
  for insert to authenticated
  with check (owner = (select auth.uid()) and exists (select from messages m where m.id = message_id));
create policy "owner changes own feedback" on message_feedback
  for update to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
create policy "owner withdraws own feedback" on message_feedback
  for delete to authenticated using (owner = (select auth.uid()));

grant select, delete on message_feedback to authenticated;
grant insert (message_id, owner, rating, reason) on message_feedback to authenticated;
grant update (rating, reason) on message_feedback to authenticated;
grant select, insert, update, delete on message_feedback to service_role;
