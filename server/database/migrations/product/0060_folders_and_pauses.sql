-- A file that is added with its folder keeps the path of that folder below the one that was chosen, `Contracts/2024`.
alter table documents add column folder text not null default '' check (char_length(folder) <= 768);

-- A paused document waits until its owner lets the reading go on.
alter table documents drop constraint documents_state_check;
alter table documents
  add constraint documents_state_check check (state in ('queued', 'reading', 'paused', 'ready', 'failed'));
create index documents_paused_idx on documents (owner) where state = 'paused';
