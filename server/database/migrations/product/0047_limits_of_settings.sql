-- Limits that hold for every way to write: the services of the official clients, the API and SQL.
create function tg_own_providers__limit() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('own_providers ' || new.owner, 0));
  if (select count(*) from public.own_providers p where p.owner = new.owner) >= 20 then
    raise exception using errcode = 'PT409', message = '20 providers are connected already. Remove one first.';
  end if;
  return new;
end
$$;
create trigger tg_own_providers__limit before insert on own_providers
  for each row execute function tg_own_providers__limit();

create function tg_tool_servers__limit() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('tool_servers ' || new.owner, 0));
  if (select count(*) from public.tool_servers s where s.owner = new.owner) >= 10 then
    raise exception using errcode = 'PT409', message = '10 servers are connected already. Remove one first.';
  end if;
  if octet_length(new.tools::text) > 1000000 then
    raise exception using errcode = 'PT413', message = 'The tools of one server may be described in at most 1 MB.';
  end if;
  return new;
end
$$;
create trigger tg_tool_servers__limit before insert on tool_servers
  for each row execute function tg_tool_servers__limit();

create function tg_user_settings__limit() returns trigger
  language plpgsql volatile set search_path = ''
as $$
begin
  if octet_length(new.preferences::text) > 256000 then
    raise exception using errcode = 'PT413', message = 'Your preferences may take at most 256 kB.';
  end if;
  return new;
end
$$;
create trigger tg_user_settings__limit before insert or update of preferences on user_settings
  for each row execute function tg_user_settings__limit();

create function tg_tool_consents__limit() returns trigger
  language plpgsql volatile set search_path = ''
as $$
begin
  if char_length(new.tool) > 1000 then
    raise exception using errcode = 'PT413', message = 'The name of a tool may have at most 1,000 characters.';
  end if;
  return new;
end
$$;
create trigger tg_tool_consents__limit before insert on tool_consents
  for each row execute function tg_tool_consents__limit();
