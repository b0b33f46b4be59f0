-- Codes that stand in for a lost second factor, each used once. Only a keyed hash is stored: whoever reads this table can
-- neither use a code nor try them one by one.
create table auth.recovery_codes (
  user_id uuid not null references auth.users on delete cascade,
  code_hash bytea not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  primary key (user_id, code_hash)
);

alter table auth.recovery_codes enable row level security;
alter table auth.recovery_codes force row level security;
grant select, insert, update, delete on auth.recovery_codes to supabase_auth_admin;

-- They stand in for a second factor: with the last one they go.
create function auth.drop_recovery_codes() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from auth.recovery_codes c
  where c.user_id = old.user_id
    and not exists (select from auth.mfa_factors f where f.user_id = old.user_id and f.status = 'verified');
  return null;
end
$$;
create trigger drop_recovery_codes after delete on auth.mfa_factors
  for each row when (old.status = 'verified') execute function auth.drop_recovery_codes();
