-- The words of a vocabulary are compressed by the server (server/documents/stored-bucket.ts): PostgreSQL's own compression
-- wins nothing on them. What is there stays readable: it is told by its first byte. Rows of a small library stay in line.
alter table search_vocabulary
  alter column content type bytea using convert_to(content, 'UTF8'),
  alter column content set storage external,
  set (toast_tuple_target = 4080);
