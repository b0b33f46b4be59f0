-- Asks one statement as each of several people: one round trip, and one plan, for all of them.
-- It sets no search_path, so that names in the statement mean the same inside and outside. It runs with the rights of its
-- caller and acts as any of the people: only the login role may call it.
create function realtime.read_as_each(role_name text, people text[], statement text, arguments json)
  returns table (found_rows json) language plpgsql volatile
as $$
declare
  statement_name constant text := 'as_each_' || md5(statement);
  person text;
  call constant text := (
    select format('execute %I(%s)', statement_name, string_agg(
      quote_literal((select coalesce(array_agg(e.value order by e.ordinality), '{}')::text
        from json_array_elements_text(a.value) with ordinality e)), ', ' order by a.ordinality))
    from json_array_elements(arguments) with ordinality a);
begin
  perform set_config('role', role_name, true);
  if not exists (select from pg_prepared_statements p where p.name = statement_name) then
    execute format('prepare %I as select coalesce(json_agg(r), ''[]'') from (%s) r', statement_name, statement);
  end if;
  foreach person in array people loop
    -- The role too: a function that the statement called may have changed it.
    perform set_config('role', role_name, true), set_config('request.jwt.claims', person, true);
    execute call into found_rows;
    return next;
  end loop;
end
$$;
revoke execute on function realtime.read_as_each(text, text[], text, json) from public;
grant execute on function realtime.read_as_each(text, text[], text, json) to authenticator;
grant usage on schema realtime to authenticator;
