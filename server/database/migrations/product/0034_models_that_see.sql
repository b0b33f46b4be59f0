-- Whether a model can be shown pictures; others read the text that was recognised in them.
alter table models add column sees boolean not null default false;
update models set sees = true, updated_at = now() where provider in ('Anthropic', 'OpenAI');
