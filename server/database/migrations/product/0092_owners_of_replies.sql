-- Removing an account, and asking whether anything belongs to it, look for its replies; the index of running ones has few of them.
create index replies_owner_idx on replies (owner) where owner is not null;
