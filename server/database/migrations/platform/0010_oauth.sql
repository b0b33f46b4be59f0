-- Sign-ins at another provider that are under way: from the moment somebody is sent there until they come back, once. Both
-- the state, which travels in addresses, and the secret of the browser that began are stored as SHA-256 digests.
create table auth.oauth_sign_ins (
  state_hash text primary key,
  browser_hash text not null,
  provider text not null,
  redirect_to text not null,
  code_challenge_method auth.code_challenge_method,
  code_challenge text,
  linking_user_id uuid references auth.users on delete cascade,
  created_at timestamptz not null default now(),
  check ((code_challenge is null) = (code_challenge_method is null))
);
create index oauth_sign_ins_linking_user_id_idx on auth.oauth_sign_ins (linking_user_id);
create index oauth_sign_ins_created_at_idx on auth.oauth_sign_ins (created_at);

alter table auth.oauth_sign_ins enable row level security;
alter table auth.oauth_sign_ins force row level security;
grant select, insert, update, delete on auth.oauth_sign_ins to supabase_auth_admin;
