-- Sign-ups with an address that is not confirmed yet: until the mail is read, any of them may be a stranger's.

-- True if the person registered without the operator. The metadata of such an account is a claim until the address is confirmed.
alter table auth.users add column if not exists self_registered boolean not null default false;
update auth.users set self_registered = true
where email_confirmed_at is null and invited_at is null and not is_anonymous and not is_sso_user and raw_user_meta_data ? 'sub';

-- Links of mails that a later mail of the same kind followed. They stay valid until they end, so that a stranger who asks for
-- another mail does not void them. Their six-digit codes end with the later mail, which keeps the number of codes that can be
-- guessed at one.
create table auth.earlier_links (
  token_hash text primary key check (token_hash <> ''),
  user_id uuid not null references auth.users on delete cascade,
  token_type auth.one_time_token_type not null,
  flow_state_id uuid references auth.flow_state on delete set null,
  expires_at timestamptz not null
);
create index earlier_links_user_id_idx on auth.earlier_links (user_id);
create index earlier_links_flow_state_id_idx on auth.earlier_links (flow_state_id);
create index earlier_links_expires_at_idx on auth.earlier_links (expires_at);

-- The password of the latest sign-up with each address, also of one that has an account: signing in with it answers that the
-- address is not confirmed in both cases, so that the answer does not tell which addresses have an account.
create table auth.signup_claims (
  email text primary key,
  password_hash text not null,
  expires_at timestamptz not null
);
create index signup_claims_expires_at_idx on auth.signup_claims (expires_at);

do $$
declare
  named text;
begin
  foreach named in array array['earlier_links', 'signup_claims'] loop
    execute format('alter table auth.%I enable row level security', named);
    execute format('alter table auth.%I force row level security', named);
    execute format('grant select, insert, update, delete on auth.%I to supabase_auth_admin', named);
  end loop;
end
$$;
