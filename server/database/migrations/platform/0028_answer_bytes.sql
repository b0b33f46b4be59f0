-- Stops a statement while it collects rows into one answer, before the answer fills the memory of PostgreSQL and of the
-- server. The error becomes the response: PT413 is PostgREST's way to name a status.
create function extensions.add_answer_bytes(total bigint, bytes integer, bound bigint) returns bigint
  language plpgsql immutable parallel safe set search_path = '' as $$
begin
  if total + coalesce(bytes, 0) > bound then
    raise exception using
      errcode = 'PT413',
      message = 'The answer is too large',
      detail = format('One answer, or one embedded list, may hold %s bytes.', bound),
      hint = 'Select fewer columns or fewer rows (select=, limit=, Range). A write returns no rows with Prefer: return=minimal.';
  end if;
  return total + coalesce(bytes, 0);
end $$;
create aggregate extensions.answer_bytes(bytes integer, bound bigint) (
  sfunc = extensions.add_answer_bytes, stype = bigint, initcond = '0', parallel = safe
);
revoke execute on function extensions.add_answer_bytes(bigint, integer, bigint) from public;
grant execute on function extensions.add_answer_bytes(bigint, integer, bigint) to anon, authenticated, service_role;
revoke execute on function extensions.answer_bytes(integer, bigint) from public;
grant execute on function extensions.answer_bytes(integer, bigint) to anon, authenticated, service_role;
