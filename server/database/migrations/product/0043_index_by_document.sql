-- What is indexed of a document goes with it, and a document with its owner: no second way from the owner is needed, whose
-- indexes were larger than what they found, cost each insert a check, and misled the planner right after a merge.
drop index passages_owner_idx;
alter table passages drop constraint passages_owner_fkey;
drop index document_index_owner_idx;
alter table document_index drop constraint document_index_owner_fkey;
