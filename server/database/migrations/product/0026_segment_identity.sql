-- A name that no other segment ever has, not even after a backup has been restored, so that a process may keep what it has
-- read of a segment: what is stored under it never changes.
alter table search_segments add column identity uuid not null default gen_random_uuid();
