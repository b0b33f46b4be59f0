-- Whether an address counts as confirmed only because nobody is asked to confirm (AUTH_AUTOCONFIRM): whoever signed up may not
-- own it, so no provider that vouches for the address opens this account.
alter table auth.users add column if not exists email_assumed boolean not null default false;
