-- Which models of the installation are offered to everybody. Null: not decided yet, which is offered until a server decides by
-- OFFER_NEW_MODELS. Models of people and spaces ignore it, and so does the default: Alcove Reader becomes it while
-- there is no other.
alter table models add column is_offered boolean;

-- Vendors of which the caller or a space in which it may ask has a key: their models cost the installation nothing.
create function vendors_with_own_key() returns text[]
  language sql stable security definer set search_path = ''
as $$
  select array(
    select o.name from public.own_providers o where o.owner = (select auth.uid()) and o.kind <> 'compatible'
    union
    select p.name from public.space_providers p
    where p.kind <> 'compatible' and p.space_id = any ((select public.spaces_to('ask'))::uuid[])
  )
$$;
revoke execute on function vendors_with_own_key() from public;
grant execute on function vendors_with_own_key() to authenticated;

drop policy "everyone signed in reads the shared models" on models;
create policy "everyone signed in reads the offered models" on models for select to authenticated
  using (
    owner is null and space_id is null
    and (coalesce(is_offered, true) or is_default or provider = any ((select vendors_with_own_key())::text[]))
  );

-- Existing installations go on offering the models that they have, because OFFER_NEW_MODELS applies to later models only.
-- A new installation has no accounts yet.
update models set is_offered = true
where owner is null and space_id is null and exists (select from auth.users);
