-- Vectors of passages, where the operator has configured a model for them. Signs stand beside the row and are compared
-- with all of one person's; the vector itself is read for the nearest of them only.
create table passage_vectors (
  owner uuid not null references auth.users on delete cascade,
  model text not null,
  document_id uuid not null,
  passage integer not null,
  -- One bit for each dimension: 1 where it is positive.
  signs bit varying not null,
  -- Little-endian float32, of length 1.
  vector bytea not null,
  primary key (owner, model, document_id, passage),
  foreign key (document_id, passage) references passages on delete cascade
);
alter table passage_vectors alter column vector set storage external;
create index passage_vectors_passage_idx on passage_vectors (document_id, passage);

alter table passage_vectors enable row level security;
alter table passage_vectors force row level security;

create policy "owner reads vectors of own passages" on passage_vectors
  for select to authenticated using (owner = (select auth.uid()));

grant select on passage_vectors to authenticated;
grant select, insert, update, delete on passage_vectors to service_role;

-- Documents all of whose passages have vectors of a model. It goes with the index entry, as the vectors go with the passages.
create table embedded_documents (
  owner uuid not null references auth.users on delete cascade,
  model text not null,
  document_id uuid not null references document_index on delete cascade,
  passages integer not null,
  primary key (owner, model, document_id)
);
create index embedded_documents_document_id_idx on embedded_documents (document_id);

alter table embedded_documents enable row level security;
alter table embedded_documents force row level security;

create policy "owner reads what of the own documents is embedded" on embedded_documents
  for select to authenticated using (owner = (select auth.uid()));

grant select on embedded_documents to authenticated;
grant select, insert, update, delete on embedded_documents to service_role;
