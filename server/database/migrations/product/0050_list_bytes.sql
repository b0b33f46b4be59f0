-- Stops a statement while it collects rows into one list, before the list fills the memory of PostgreSQL and of the server.
-- The platform has its own for `/rest/v1`; a hosted project has none.
create function add_list_bytes(total bigint, bytes integer, bound bigint) returns bigint
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  if total + coalesce(bytes, 0) > bound then
    raise exception using errcode = 'PT413', message = 'The list is too large';
  end if;
  return total + coalesce(bytes, 0);
end
$$;
create aggregate list_bytes(bytes integer, bound bigint) (
  sfunc = add_list_bytes, stype = bigint, initcond = '0', parallel = safe
);
revoke execute on function add_list_bytes(bigint, integer, bigint) from public;
grant execute on function add_list_bytes(bigint, integer, bigint) to authenticated, service_role;
revoke execute on function list_bytes(integer, bigint) from public;
grant execute on function list_bytes(integer, bigint) to authenticated, service_role;

-- Also where a server describes its tools again; `tg_tool_servers__limit` counts servers.
create function tg_tool_servers__limit_tools() returns trigger
  language plpgsql volatile set search_path = ''
as $$
begin
  if pg_column_size(new.tools || '{}') > 1000000 then
    raise exception using errcode = 'PT413', message = 'The tools of one server may be described in at most 1 MB.';
  end if;
  return new;
end
$$;
create trigger tg_tool_servers__limit_tools before insert or update of tools on tool_servers
  for each row execute function tg_tool_servers__limit_tools();
