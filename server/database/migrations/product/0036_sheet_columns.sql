-- Of a sheet: the columns, A being 1, that the cells of every line of its text stand in. The lines themselves are in `rows`.

alter table document_pages
  add column columns jsonb;
