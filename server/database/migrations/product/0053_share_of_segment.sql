-- Several documents may enter a segment together; each counts its share of the segment's bytes, by passages.
create or replace function tg_document_index__measure() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  new.bytes := public.passage_bytes(new.document_id) + coalesce(
    (select public.segment_bytes(s.segment) * new.passages / s.passages from public.search_segments s
     where s.owner = new.owner and s.segment = new.segment), 0);
  return new;
end
$$;
