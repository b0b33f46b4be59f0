-- What is indexed of a document goes with it, and a document with its owner: nothing that the server asks comes by the
-- owner. Whoever selects from these tables as a person names documents, or has all rows looked at under the policy.
drop index passages_owner_idx;
alter table passages drop constraint passages_owner_fkey;
drop index document_index_owner_idx;
alter table document_index drop constraint document_index_owner_fkey;
