-- Their bodies are bound to what they name when they are created, so they need no search path of their own; without one
-- PostgreSQL puts them into the statement that asks, instead of preparing and calling each of them in turn.
alter function auth.jwt() reset search_path;
alter function auth.uid() reset search_path;
alter function auth.role() reset search_path;
alter function auth.email() reset search_path;
alter function realtime.topic() reset search_path;
alter function realtime.pick(jsonb, text[]) reset search_path;
alter function realtime.pick_text(jsonb, text[]) reset search_path;
