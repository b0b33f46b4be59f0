-- The hourly sweep deletes revoked tokens by their age; a session that is used all day adds one an hour.
create index refresh_tokens_revoked_updated_at_idx on auth.refresh_tokens (updated_at) where revoked;
