-- `blocks` are headings, paragraphs, lists, tables and code as ranges of the text; null where a page was read before there
-- were any. `gap` says why a page has no text.
alter table document_pages
  add column blocks jsonb,
  add column gap text check (gap in ('blank', 'not_recognised', 'unreadable', 'beyond_limit'));
