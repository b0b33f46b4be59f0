-- The time of the first confirmation of a running change of address; null: no side has confirmed it. A mail that is sent again,
-- which a stranger may cause, does not move it.
alter table auth.users add column email_change_confirmed_at timestamptz;

-- Which side of a change of address has confirmed it: 0 none, 1 the current address, 2 the new one. It was the number of
-- confirmed sides; of a change that is running, the code that is left tells which side it was. Other changes begin again.
update auth.users u
set email_change_confirm_status = (
  select case when count(*) <> 1 then 0 when min(t.token_type::text) = 'email_change_token_new' then 1 else 2 end
  from auth.one_time_tokens t
  where t.user_id = u.id and t.expires_at > now()
    and t.token_type in ('email_change_token_current', 'email_change_token_new')
)
where u.email_change_confirm_status <> 0;
update auth.users set email_change_confirmed_at = now() where email_change_confirm_status <> 0;

-- Supabase projects have the same constraint.
alter table auth.users
  add constraint users_email_change_confirm_status_check check (email_change_confirm_status between 0 and 2);
