-- The user id that sign-ups with an address are answered with: of the pending account, or made up where the address is taken.
-- It is kept as long as a pending account is, so that the id changes in both cases alike.
alter table auth.signup_claims add column if not exists answered_id uuid not null default gen_random_uuid();
update auth.signup_claims c set answered_id = u.id
from auth.users u where lower(u.email) = c.email and not u.is_sso_user and u.confirmed_at is null;
update auth.signup_claims set expires_at = least(expires_at, now() + interval '7 days');

-- Accounts that were pending before requests for one address were compared: a stranger may have set the password.
update auth.users
set encrypted_password = null, raw_app_meta_data = raw_app_meta_data || '{"needs_password": true}'
where self_registered and confirmed_at is null and encrypted_password is not null;
