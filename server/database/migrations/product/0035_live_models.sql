-- Pages learn of models that are listed while they are open: after a start, or once a key or a server was added.
alter publication supabase_realtime add table models;
