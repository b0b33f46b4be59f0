-- Providers of models that an owner has put into a space: a key for a known one, or an endpoint. Questions in the space use
-- them. The server encrypts the key together with space, name and address, and no role of people reads that column. They end
-- with the space, and with the membership of the person whose they are.
create table space_providers (
  id uuid primary key default gen_random_uuid(),
  space_id uuid not null references spaces (id) on delete cascade,
  created_by uuid not null default auth.uid(),
  kind text not null check (kind in ('anthropic', 'openai', 'compatible')),
  name text not null check (char_length(name) between 1 and 60),
  base_url text check (char_length(base_url) <= 500),
  sealed_key bytea check (octet_length(sealed_key) <= 2000),
  created_at timestamptz not null default now(),
  unique (space_id, name),
  foreign key (space_id, created_by) references space_members (space_id, user_id) on delete cascade,
  check (
    case kind
      when 'anthropic' then name = 'Anthropic' and base_url is null and sealed_key is not null
      when 'openai' then name = 'OpenAI' and base_url is null and sealed_key is not null
      else base_url is not null and name not in ('Anthropic', 'OpenAI', 'OpenAI-compatible', 'Alcove')
    end
  )
);
create index space_providers_created_by_idx on space_providers (space_id, created_by);

alter table space_providers enable row level security;
alter table space_providers force row level security;
create policy "owners read which providers a space has, others their own" on space_providers for select to authenticated
  using (space_id = any ((select spaces_to('own'))::uuid[]) or created_by = (select auth.uid()));
create policy "owners put providers of theirs into a space" on space_providers for insert to authenticated
  with check (created_by = (select auth.uid()) and space_id = any ((select spaces_to('own'))::uuid[]));
create policy "owners take providers out of a space, others their own" on space_providers for delete to authenticated
  using (space_id = any ((select spaces_to('own'))::uuid[]) or created_by = (select auth.uid()));
grant select (id, space_id, created_by, kind, name, base_url, created_at) on space_providers to authenticated;
grant insert (id, space_id, created_by, kind, name, base_url, sealed_key) on space_providers to authenticated;
grant delete on space_providers to authenticated;
grant select, insert, update, delete on space_providers to service_role;

create function tg_space_providers__limit() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('space_providers ' || new.space_id, 0));
  if (select count(*) from public.space_providers p where p.space_id = new.space_id) >= 20 then
    raise exception using errcode = 'PT409', message = 'This space has 20 providers already. Remove one first.';
  end if;
  return new;
end
$$;
create trigger tg_space_providers__limit before insert on space_providers
  for each row execute function tg_space_providers__limit();

-- Identifiers of models begin with the id of their provider, so one id must not name a provider in both tables.
create function tg_providers__id_is_free() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  is_taken boolean;
begin
  perform pg_advisory_xact_lock(hashtextextended('provider ' || new.id, 0));
  if tg_table_name = 'own_providers' then
    is_taken := exists (select from public.space_providers p where p.id = new.id);
  else
    is_taken := exists (select from public.own_providers p where p.id = new.id);
  end if;
  if is_taken then
    raise exception using errcode = 'unique_violation', message = 'Another provider has this id.';
  end if;
  return new;
end
$$;
create trigger tg_own_providers__id_is_free before insert or update of id on own_providers
  for each row execute function tg_providers__id_is_free();
create trigger tg_space_providers__id_is_free before insert or update of id on space_providers
  for each row execute function tg_providers__id_is_free();

create function tg_space_providers__record() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform public.record_space_event(new.space_id, 'key_added', new.id, jsonb_build_object('name', new.name));
  else
    perform public.record_space_event(old.space_id, 'key_removed', old.id, jsonb_build_object('name', old.name));
  end if;
  return null;
end
$$;
create trigger tg_space_providers__record after insert or delete on space_providers
  for each row execute function tg_space_providers__record();

-- Models of an endpoint of a space are its members'.
alter table models
  add column space_id uuid references spaces (id) on delete cascade,
  add column space_provider uuid references space_providers (id) on delete cascade,
  add check ((space_id is null) = (space_provider is null)),
  add check (owner is null or space_id is null);
create index models_space_provider_idx on models (space_provider) where space_provider is not null;
create index models_space_id_idx on models (space_id) where space_id is not null;
drop policy "everyone signed in reads the shared models" on models;
create policy "everyone signed in reads the shared models" on models for select to authenticated
  using (owner is null and space_id is null);
create policy "members read the models of their spaces" on models for select to authenticated
  using (space_id = any ((select spaces_to('read'))::uuid[]));

-- Whether questions in a space may use keys of it; false outside of spaces in which the caller may ask.
create function has_space_keys(space uuid) returns boolean
  language sql stable security definer set search_path = ''
as $$
  select space = any (public.spaces_to('ask')) and exists (select from public.space_providers p where p.space_id = space)
$$;
revoke execute on function has_space_keys(uuid) from public;
grant execute on function has_space_keys(uuid) to authenticated;

-- As before, and a space with a key of its own pays for its questions.
create or replace function is_charged_model(person uuid, conversation uuid, model text) returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return model <> 'alcove-reader' and not starts_with(model, 'endpoint:')
    and not exists (
      select from public.models m join public.own_providers o on o.owner = person and o.name = m.provider
      where m.model_identifier = model
    )
    and not exists (
      select from public.conversations c
      join public.space_providers p on p.space_id = c.space_id
      join public.models m on m.provider = p.name
      where c.id = conversation and m.model_identifier = model
    );
end
$$;

-- A conversation leaves the models of a space when it leaves the space, also as a copy.
create function tg_conversations__leave_model() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if exists (
    select from public.models m
    where m.model_identifier = new.model_name and m.space_id is not null and m.space_id is distinct from new.space_id
  ) then
    new.model_name := coalesce((select m.model_identifier from public.models m where m.is_default limit 1), 'alcove-reader');
  end if;
  return new;
end
$$;
create trigger tg_conversations__leave_model before insert or update of space_id on conversations
  for each row when (starts_with(new.model_name, 'endpoint:')) execute function tg_conversations__leave_model();

-- Answers for a space that is archived are stopped, since it takes none any more.
create function tg_spaces__stop_answers() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  stopped record;
begin
  for stopped in
    update public.replies r set stop_requested = true
    from public.conversations c
    where c.id = r.conversation_id and c.space_id = new.id and r.state in ('queued', 'running')
    returning r.id
  loop
    perform pg_notify('reply_stop', stopped.id::text);
  end loop;
  return null;
end
$$;
create trigger tg_spaces__stop_answers after update of archived_at on spaces
  for each row when (old.archived_at is null and new.archived_at is not null) execute function tg_spaces__stop_answers();
