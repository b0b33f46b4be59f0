-- The page reads conversations in pages: the pinned ones first, then newest first.
create index conversations_uid_pinned_started_at_idx on conversations (uid, pinned desc, started_at desc, id);
