-- A company's SAML provider may assert any address, so one outside its domains proves nothing: a person would be invited whom
-- the provider merely names so. Read as JSON, since a Supabase project has no column `email_assumed`, so that there it is never
-- proven, and may be too old for `is_sso_user`.
create or replace function confirmed_email() returns text
  language sql stable security definer set search_path = ''
as $$
  select lower(u.email) from auth.users u
  where u.id = auth.uid() and u.email_confirmed_at is not null
    and (to_jsonb(u) ->> 'is_sso_user' is distinct from 'true' or to_jsonb(u) ->> 'email_assumed' = 'false')
$$;
