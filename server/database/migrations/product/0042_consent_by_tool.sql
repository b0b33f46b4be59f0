-- Leave to call one tool of a server was leave to call them all. What was given without naming a tool is asked for again.
truncate tool_consents;
alter table tool_consents drop constraint tool_consents_pkey;
alter table tool_consents add column tool text not null;
alter table tool_consents add primary key (conversation_id, server_id, tool);
grant insert (tool) on tool_consents to authenticated;
