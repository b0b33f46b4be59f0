-- Sign-ins at a company's SAML identity provider that are under way: from the moment somebody is sent there until they come
-- back, once. The state, which travels as RelayState, is stored as a SHA-256 digest; the id of the request follows from it.
create table auth.saml_sign_ins (
  state_hash text primary key,
  sso_provider_id uuid not null,
  redirect_to text not null,
  code_challenge_method auth.code_challenge_method,
  code_challenge text,
  in_own_page boolean not null,
  created_at timestamptz not null default now(),
  check ((code_challenge is null) = (code_challenge_method is null))
);
create index saml_sign_ins_created_at_idx on auth.saml_sign_ins (created_at);

-- Assertions that were accepted, by digest, for as long as they say that they hold: each signs in once, on whatever node.
create table auth.saml_assertions (
  id_hash text primary key,
  ends_at timestamptz not null
);
create index saml_assertions_ends_at_idx on auth.saml_assertions (ends_at);

-- When the company says that a session which this flow opens has to end.
alter table auth.flow_state add column if not exists session_not_after timestamptz;

do $$
declare
  named text;
begin
  foreach named in array array['saml_sign_ins', 'saml_assertions'] loop
    execute format('alter table auth.%I enable row level security', named);
    execute format('alter table auth.%I force row level security', named);
    execute format('grant select, insert, update, delete on auth.%I to supabase_auth_admin', named);
  end loop;
end
$$;
