-- Limits on use by time, next to those on bytes. 0: no limit. Questions, tokens and pages count by day, costs by month, both
-- in UTC. Costs are in millionths of a dollar.
alter table quotas
  add column questions_per_person bigint not null default 0 check (questions_per_person >= 0),
  add column questions_total bigint not null default 0 check (questions_total >= 0),
  add column tokens_per_person bigint not null default 0 check (tokens_per_person >= 0),
  add column tokens_total bigint not null default 0 check (tokens_total >= 0),
  add column cost_per_person bigint not null default 0 check (cost_per_person >= 0),
  add column cost_total bigint not null default 0 check (cost_total >= 0),
  add column pages_per_person bigint not null default 0 check (pages_per_person >= 0),
  add column pages_total bigint not null default 0 check (pages_total >= 0);

-- Use of one day. `tokens` and `cost` are of the installation's own model accounts, `own_tokens` of accounts that the person connected.
-- The nil UUID sums up accounts that were deleted, so that a new account does not undo a limit for all.
create table daily_usage (
  owner uuid not null,
  day date not null,
  questions bigint not null default 0,
  tokens bigint not null default 0,
  own_tokens bigint not null default 0,
  cost bigint not null default 0,
  documents bigint not null default 0,
  pages bigint not null default 0,
  -- Bytes stored at the end of the day.
  bytes bigint not null default 0,
  primary key (owner, day)
);
create index daily_usage_day_idx on daily_usage (day);

-- Use since the last fold. Rows are only appended, so that the end of an answer waits for no lock that a person holds.
create table usage_events (
  id bigint generated always as identity primary key,
  owner uuid not null,
  day date not null,
  questions bigint not null default 0,
  tokens bigint not null default 0,
  own_tokens bigint not null default 0,
  cost bigint not null default 0,
  documents bigint not null default 0,
  pages bigint not null default 0
);
create index usage_events_owner_idx on usage_events (owner, day);
create index usage_events_day_idx on usage_events (day);

-- Upper bounds of what a running answer uses, so that answers at the same time do not exceed a limit together.
alter table replies
  add column reserved_tokens bigint not null default 0,
  add column reserved_cost bigint not null default 0;

alter table daily_usage enable row level security;
alter table daily_usage force row level security;
create policy "owner reads own use by day" on daily_usage for select to authenticated using (owner = (select auth.uid()));
grant select on daily_usage to authenticated, service_role;
alter table usage_events enable row level security;
alter table usage_events force row level security;
create policy "owner reads own use of today" on usage_events for select to authenticated using (owner = (select auth.uid()));
grant select on usage_events to authenticated;
grant select, insert on usage_events to service_role;

create function utc_today() returns date
  language sql volatile set search_path = ''
as $$ select (clock_timestamp() at time zone 'utc')::date $$;
revoke execute on function utc_today() from public;
grant execute on function utc_today() to authenticated, service_role;

-- Sums since a day; of all people where `person` is null.
create function usage_since(person uuid, first_day date, out questions bigint, out tokens bigint, out cost bigint, out pages bigint)
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if person is null then
    select coalesce(sum(u.questions), 0), coalesce(sum(u.tokens), 0), coalesce(sum(u.cost), 0), coalesce(sum(u.pages), 0)
    into questions, tokens, cost, pages
    from (
      select d.questions, d.tokens, d.cost, d.pages from public.daily_usage d where d.day >= first_day
      union all select e.questions, e.tokens, e.cost, e.pages from public.usage_events e where e.day >= first_day
    ) u;
  else
    select coalesce(sum(u.questions), 0), coalesce(sum(u.tokens), 0), coalesce(sum(u.cost), 0), coalesce(sum(u.pages), 0)
    into questions, tokens, cost, pages
    from (
      select d.questions, d.tokens, d.cost, d.pages from public.daily_usage d where d.owner = person and d.day >= first_day
      union all
      select e.questions, e.tokens, e.cost, e.pages from public.usage_events e where e.owner = person and e.day >= first_day
    ) u;
  end if;
end
$$;
revoke execute on function usage_since(uuid, date) from public;

create function describe_count(amount bigint) returns text
  language sql immutable set search_path = ''
as $$ select to_char(amount, 'FM999,999,999,999,990') $$;
revoke execute on function describe_count(bigint) from public;

create function describe_cost(micros bigint) returns text
  language sql immutable set search_path = ''
as $$ select '$' || to_char(micros / 1e6, 'FM999,999,990.00') $$;
revoke execute on function describe_cost(bigint) from public;

-- One sentence for the person who is refused.
create function describe_reached_limit(name text, used bigint, allowed bigint) returns text
  language sql immutable set search_path = ''
as $$
  select case name
    when 'questions' then format('You asked %s of %s questions today. You can ask again after midnight (UTC).',
      public.describe_count(used), public.describe_count(allowed))
    when 'tokens' then format('You used %s of %s tokens today. Choose Alcove Reader, or ask again after midnight (UTC).',
      public.describe_count(used), public.describe_count(allowed))
    when 'cost' then format('You used %s of %s this month. Choose Alcove Reader, or ask again next month.',
      public.describe_cost(used), public.describe_cost(allowed))
    when 'pages' then format('You had %s of %s pages recognised today. More can be read after midnight (UTC).',
      public.describe_count(used), public.describe_count(allowed))
    when 'all questions' then 'This server has reached its limit of questions for today. You can ask again after midnight (UTC).'
    when 'all tokens' then
      'This server has reached its limit of tokens for today. Choose Alcove Reader, or ask again after midnight (UTC).'
    when 'all cost' then 'This server has reached its limit of costs for this month. Choose Alcove Reader, or ask again next month.'
    when 'all pages' then 'This server has reached its limit of recognised pages for today. More can be read after midnight (UTC).'
  end
$$;
revoke execute on function describe_reached_limit(text, bigint, bigint) from public;

create function refuse_use(name text, used bigint, allowed bigint) returns void
  language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'PT429', message = public.describe_reached_limit(name, used, allowed);
end
$$;
revoke execute on function refuse_use(text, bigint, bigint) from public;

-- Those who use at the same time are counted one after another, the person before all people.
create function lock_usage(person uuid, for_person boolean, for_all boolean) returns void
  language plpgsql volatile set search_path = ''
as $$
begin
  if for_person then
    perform pg_advisory_xact_lock(hashtextextended('usage of ' || person, 0));
  end if;
  if for_all then
    perform pg_advisory_xact_lock(hashtextextended('usage of all', 0));
  end if;
end
$$;
revoke execute on function lock_usage(uuid, boolean, boolean) from public;

-- Whether the installation pays for a model: not an own endpoint, nor a provider of which the person has a key.
create function is_charged_model(person uuid, conversation uuid, model text) returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return model <> 'alcove-reader' and not starts_with(model, 'endpoint:')
    and not exists (
      select from public.models m join public.own_providers o on o.owner = person and o.name = m.provider
      where m.model_identifier = model
    );
end
$$;
revoke execute on function is_charged_model(uuid, uuid, text) from public;

-- Counts a question when it is queued, and refuses it beyond a limit. Tokens and costs concern only the installation's own model
-- accounts. Before the model is asked, `reserve_usage` decides.
create function tg_replies__count_question() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  allowed public.quotas;
  today date := public.utc_today();
  used record;
  is_charged boolean;
begin
  if new.owner is null then
    return null;
  end if;
  select * into allowed from public.quotas;
  perform public.lock_usage(
    new.owner,
    greatest(allowed.questions_per_person, allowed.tokens_per_person, allowed.cost_per_person) > 0,
    greatest(allowed.questions_total, allowed.tokens_total, allowed.cost_total) > 0
  );
  if allowed.questions_per_person > 0 then
    used := public.usage_since(new.owner, today);
    if used.questions >= allowed.questions_per_person then
      perform public.refuse_use('questions', used.questions, allowed.questions_per_person);
    end if;
  end if;
  if allowed.questions_total > 0 then
    used := public.usage_since(null, today);
    if used.questions >= allowed.questions_total then
      perform public.refuse_use('all questions', used.questions, allowed.questions_total);
    end if;
  end if;
  if greatest(allowed.tokens_per_person, allowed.cost_per_person, allowed.tokens_total, allowed.cost_total) > 0 then
    is_charged := public.is_charged_model(
      new.owner, new.conversation_id,
      coalesce(new.model_name, (select c.model_name from public.conversations c where c.id = new.conversation_id), '')
    );
    if is_charged and allowed.tokens_per_person > 0 then
      used := public.usage_since(new.owner, today);
      if used.tokens >= allowed.tokens_per_person then
        perform public.refuse_use('tokens', used.tokens, allowed.tokens_per_person);
      end if;
    end if;
    if is_charged and allowed.cost_per_person > 0 then
      used := public.usage_since(new.owner, date_trunc('month', today)::date);
      if used.cost >= allowed.cost_per_person then
        perform public.refuse_use('cost', used.cost, allowed.cost_per_person);
      end if;
    end if;
    if is_charged and allowed.tokens_total > 0 then
      used := public.usage_since(null, today);
      if used.tokens >= allowed.tokens_total then
        perform public.refuse_use('all tokens', used.tokens, allowed.tokens_total);
      end if;
    end if;
    if is_charged and allowed.cost_total > 0 then
      used := public.usage_since(null, date_trunc('month', today)::date);
      if used.cost >= allowed.cost_total then
        perform public.refuse_use('all cost', used.cost, allowed.cost_total);
      end if;
    end if;
  end if;
  insert into public.usage_events (owner, day, questions) values (new.owner, today, 1);
  return null;
end
$$;
create trigger tg_replies__count_question after insert on replies
  for each row when (new.state in ('queued', 'running')) execute function tg_replies__count_question();
create trigger tg_replies__count_repeated after update of state on replies
  for each row when (new.state = 'queued' and old.state in ('done', 'failed', 'stopped'))
  execute function tg_replies__count_question();

-- Reserves what an answer uses at most, before its model is asked. `granted`: tokens that it may write; `refusal`: why it may not begin.
-- Prices are in millionths of a dollar for a token.
create function reserve_usage(
  reply uuid, of_attempt integer, tokens_in bigint, wanted bigint, price_in double precision, price_out double precision,
  out granted bigint, out refusal text
)
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  allowed public.quotas;
  today date := public.utc_today();
  month date := date_trunc('month', today)::date;
  person uuid;
  limited record;
  used record;
  reserved record;
  room bigint;
begin
  granted := wanted;
  select * into allowed from public.quotas;
  if greatest(allowed.tokens_per_person, allowed.cost_per_person, allowed.tokens_total, allowed.cost_total) = 0 then
    return;
  end if;
  select r.owner into person from public.replies r where r.id = reply and r.attempt = of_attempt and r.state = 'running';
  if person is null then
    return;
  end if;
  perform public.lock_usage(
    person, greatest(allowed.tokens_per_person, allowed.cost_per_person) > 0, greatest(allowed.tokens_total, allowed.cost_total) > 0
  );
  for limited in
    select * from (values
      ('tokens', person, today, allowed.tokens_per_person),
      ('all tokens', null, today, allowed.tokens_total),
      ('cost', person, month, allowed.cost_per_person),
      ('all cost', null, month, allowed.cost_total)
    ) as v (name, who, first_day, bound)
    where v.bound > 0
  loop
    -- An answer that ends in between counts twice rather than not at all.
    select coalesce(sum(r.reserved_tokens), 0)::bigint as tokens, coalesce(sum(r.reserved_cost), 0)::bigint as cost into reserved
    from public.replies r
    where r.state = 'running' and r.id <> reply and (limited.who is null or r.owner = limited.who);
    used := public.usage_since(limited.who, limited.first_day);
    if limited.name like '%tokens' then
      room := limited.bound - used.tokens - reserved.tokens - tokens_in;
    elsif price_out > 0 then
      room := floor((limited.bound - used.cost - reserved.cost - tokens_in * price_in) / price_out);
    elsif price_in > 0 then
      room := case when used.cost + reserved.cost + tokens_in * price_in <= limited.bound then wanted else 0 end;
    else
      continue;
    end if;
    if room < 1 then
      granted := 0;
      refusal := public.describe_reached_limit(
        limited.name,
        case when limited.name like '%tokens' then used.tokens + reserved.tokens else used.cost + reserved.cost end, limited.bound
      );
      return;
    end if;
    granted := least(granted, room);
  end loop;
  update public.replies r
  set reserved_tokens = tokens_in + granted, reserved_cost = ceil(tokens_in * price_in + granted * price_out)
  where r.id = reply and r.attempt = of_attempt and r.state = 'running';
end
$$;
revoke execute on function reserve_usage(uuid, integer, bigint, bigint, double precision, double precision) from public;
grant execute on function reserve_usage(uuid, integer, bigint, bigint, double precision, double precision) to service_role;

create function tg_document_pages__count_recognised() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  allowed public.quotas;
  today date := public.utc_today();
  read record;
  used record;
begin
  if current_setting('alcove.copies_pages', true) = 'on' then
    return null;
  end if;
  for read in
    select d.owner, count(*) as pages from new_rows n join public.documents d on d.id = n.document_id
    where n.confidence is not null and d.owner is not null group by d.owner order by d.owner
  loop
    select * into allowed from public.quotas;
    perform public.lock_usage(read.owner, allowed.pages_per_person > 0, allowed.pages_total > 0);
    if allowed.pages_per_person > 0 then
      used := public.usage_since(read.owner, today);
      if used.pages + read.pages > allowed.pages_per_person then
        perform public.refuse_use('pages', used.pages, allowed.pages_per_person);
      end if;
    end if;
    if allowed.pages_total > 0 then
      used := public.usage_since(null, today);
      if used.pages + read.pages > allowed.pages_total then
        perform public.refuse_use('all pages', used.pages, allowed.pages_total);
      end if;
    end if;
    insert into public.usage_events (owner, day, pages) values (read.owner, today, read.pages);
  end loop;
  return null;
end
$$;
create trigger tg_document_pages__count_recognised after insert on document_pages referencing new table as new_rows
  for each statement execute function tg_document_pages__count_recognised();

create function tg_documents__count_added() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.usage_events (owner, day, documents)
  select n.owner, public.utc_today(), count(*) from new_rows n where n.owner is not null group by n.owner;
  return null;
end
$$;
create trigger tg_documents__count_added after insert on documents referencing new table as new_rows
  for each statement execute function tg_documents__count_added();

create function tg_users__release_daily_usage() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  with events as (
    delete from public.usage_events e where e.owner = old.id returning e.*
  ), days as (
    delete from public.daily_usage d where d.owner = old.id returning d.*
  )
  insert into public.daily_usage as d (owner, day, questions, tokens, own_tokens, cost, documents, pages)
  select '00000000-0000-0000-0000-000000000000', u.day, sum(u.questions), sum(u.tokens), sum(u.own_tokens), sum(u.cost),
    sum(u.documents), sum(u.pages)
  from (
    select day, questions, tokens, own_tokens, cost, documents, pages from events
    union all select day, questions, tokens, own_tokens, cost, documents, pages from days
  ) u
  group by u.day order by u.day
  on conflict (owner, day) do update set questions = d.questions + excluded.questions, tokens = d.tokens + excluded.tokens,
    own_tokens = d.own_tokens + excluded.own_tokens, cost = d.cost + excluded.cost, documents = d.documents + excluded.documents,
    pages = d.pages + excluded.pages;
  return null;
end
$$;
create trigger tg_users__release_daily_usage after delete on auth.users
  for each row execute function tg_users__release_daily_usage();

-- Bytes that count with each of some people.
create function stored_bytes(people uuid[]) returns table (owner uuid, bytes bigint)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return query
  select p.id, coalesce(sum(u.file_bytes + u.text_bytes), 0)::bigint
  from unnest(people) as p (id)
  left join (
    select s.owner, s.file_bytes, s.text_bytes from public.usage s
    union all select c.owner, c.file_bytes, c.text_bytes from public.usage_changes c
  ) u on u.owner = any (public.paid_libraries(p.id))
  group by p.id;
end
$$;
revoke execute on function stored_bytes(uuid[]) from public;
grant execute on function stored_bytes(uuid[]) to service_role;

-- Sums up the events so far, notes what is stored today, and forgets days older than `kept_days`.
create function fold_usage(kept_days integer) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  today date := public.utc_today();
begin
  with moved as (
    delete from public.usage_events e where e.day <= today returning e.*
  )
  insert into public.daily_usage as d (owner, day, questions, tokens, own_tokens, cost, documents, pages)
  select coalesce(p.id, '00000000-0000-0000-0000-000000000000'), m.day, sum(m.questions), sum(m.tokens), sum(m.own_tokens),
    sum(m.cost), sum(m.documents), sum(m.pages)
  from moved m left join auth.users p on p.id = m.owner
  group by 1, 2 order by 1, 2
  on conflict (owner, day) do update set questions = d.questions + excluded.questions, tokens = d.tokens + excluded.tokens,
    own_tokens = d.own_tokens + excluded.own_tokens, cost = d.cost + excluded.cost, documents = d.documents + excluded.documents,
    pages = d.pages + excluded.pages;
  insert into public.daily_usage as d (owner, day, bytes)
  select b.owner, today, b.bytes
  from public.stored_bytes(array(select p.id from auth.users p order by p.id)) b
  where b.bytes > 0
  order by b.owner
  on conflict (owner, day) do update set bytes = excluded.bytes;
  delete from public.daily_usage d where d.day < today - kept_days;
end
$$;
revoke execute on function fold_usage(integer) from public;
grant execute on function fold_usage(integer) to service_role;

-- The caller's use by day, today included.
create function own_daily_usage(days integer) returns table (
  day date, questions bigint, tokens bigint, own_tokens bigint, cost bigint, documents bigint, pages bigint, bytes bigint
)
  language sql stable set search_path = ''
as $$
  select u.day, sum(u.questions)::bigint, sum(u.tokens)::bigint, sum(u.own_tokens)::bigint, sum(u.cost)::bigint,
    sum(u.documents)::bigint, sum(u.pages)::bigint, max(u.bytes)
  from (
    select d.day, d.questions, d.tokens, d.own_tokens, d.cost, d.documents, d.pages, d.bytes from public.daily_usage d
    where d.owner = (select auth.uid())
    union all
    select e.day, e.questions, e.tokens, e.own_tokens, e.cost, e.documents, e.pages, 0 from public.usage_events e
    where e.owner = (select auth.uid())
  ) u
  where u.day > (now() at time zone 'utc')::date - least(days, 400)
  group by u.day order by u.day
$$;
revoke execute on function own_daily_usage(integer) from public;
grant execute on function own_daily_usage(integer) to authenticated;

-- Sums over all people, without a name.
create function all_daily_usage(days integer) returns table (
  day date, people bigint, questions bigint, tokens bigint, own_tokens bigint, cost bigint, documents bigint, pages bigint, bytes bigint
)
  language sql stable security definer set search_path = ''
as $$
  select u.day, count(distinct u.owner) filter (where u.questions > 0), sum(u.questions)::bigint, sum(u.tokens)::bigint,
    sum(u.own_tokens)::bigint, sum(u.cost)::bigint, sum(u.documents)::bigint, sum(u.pages)::bigint, sum(u.bytes)::bigint
  from (
    select d.owner, d.day, d.questions, d.tokens, d.own_tokens, d.cost, d.documents, d.pages, d.bytes from public.daily_usage d
    union all
    select e.owner, e.day, e.questions, e.tokens, e.own_tokens, e.cost, e.documents, e.pages, 0 from public.usage_events e
  ) u
  where u.day > (now() at time zone 'utc')::date - least(days, 400)
  group by u.day order by u.day
$$;
revoke execute on function all_daily_usage(integer) from public;
grant execute on function all_daily_usage(integer) to service_role;

-- The caller's use of each limit that is set. Limits for all people are given in per cent.
create function own_limits() returns table (name text, used bigint, allowed bigint)
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  bounds public.quotas;
  today date := public.utc_today();
  month date := date_trunc('month', today)::date;
  person uuid := auth.uid();
  of_day record;
  of_month record;
begin
  if person is null then
    return;
  end if;
  select * into bounds from public.quotas;
  of_day := public.usage_since(person, today);
  of_month := public.usage_since(person, month);
  return query
  select v.name, v.used, v.bound from (values
    ('questions', of_day.questions, bounds.questions_per_person), ('tokens', of_day.tokens, bounds.tokens_per_person),
    ('cost', of_month.cost, bounds.cost_per_person), ('pages', of_day.pages, bounds.pages_per_person)
  ) as v (name, used, bound) where v.bound > 0;
  if greatest(bounds.questions_total, bounds.tokens_total, bounds.pages_total, bounds.cost_total) = 0 then
    return;
  end if;
  of_day := public.usage_since(null, today);
  of_month := public.usage_since(null, month);
  return query
  select v.name, least(100, v.used * 100 / v.bound), 100::bigint from (values
    ('all questions', of_day.questions, bounds.questions_total), ('all tokens', of_day.tokens, bounds.tokens_total),
    ('all cost', of_month.cost, bounds.cost_total), ('all pages', of_day.pages, bounds.pages_total)
  ) as v (name, used, bound) where v.bound > 0;
end
$$;
revoke execute on function own_limits() from public;
grant execute on function own_limits() to authenticated;
