-- Finds the changes of a row since a transaction. A hash, since keys may be longer than an entry of an index.
create index changes_row_idx on realtime.changes (jsonb_hash_extended(key, 0), xid);
