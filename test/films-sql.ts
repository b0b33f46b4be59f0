/** Tables with every kind of relationship; each row is visible only to its owner. */
const OWNED = ['directors', 'films', 'specs', 'actors', 'roles', 'staff', 'festivals', 'screenings']

export const FILMS_SQL = `
  create table directors (id integer primary key, owner uuid not null default auth.uid(), name text, born date);
  create table films (id integer primary key, owner uuid not null default auth.uid(), title text not null, year integer,
    rating numeric, big bigint, data jsonb, director_id integer references directors);
  create table specs (film_id integer primary key references films, owner uuid not null default auth.uid(), camera text, minutes integer);
  create table actors (id integer primary key, owner uuid not null default auth.uid(), name text);
  create table roles (film_id integer references films, actor_id integer references actors, owner uuid not null default auth.uid(),
    character text, primary key (film_id, actor_id));
  create table staff (id integer primary key, owner uuid not null default auth.uid(), name text, boss_id integer references staff);
  create table festivals (city text, season integer, owner uuid not null default auth.uid(), visitors integer, primary key (city, season));
  create table screenings (id integer primary key, owner uuid not null default auth.uid(), city text, season integer,
    film_id integer constraint shown references films, winner_id integer constraint won references films,
    foreign key (city, season) references festivals);
  ${OWNED.map(
    (table) => `
      alter table ${table} enable row level security;
      create policy "owner does everything" on ${table} to authenticated
        using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
      grant select, insert, update, delete on ${table} to authenticated;`,
  ).join('')}
  create table locked (id integer primary key, film_id integer references films);
  create function long_films(shortest integer) returns setof films language sql stable
    as $$ select f.* from films f join specs s on s.film_id = f.id where s.minutes >= shortest $$;
  grant execute on function long_films(integer) to authenticated;
`

/** @param offset separates the ids of two people. */
export const filmRowsSql = (offset: number): string => `
  insert into directors (id, name, born) select ${offset} + i, 'director ' || i, '1950-01-01'::date + i * 400 from generate_series(1, 4) i;
  insert into films (id, title, year, rating, big, data, director_id)
    select ${offset} + i, 'film ' || i, 1990 + i % 4, i * 1.10, 9007199254740993 + i, jsonb_build_object('n', i, 'k', null),
      case when i % 5 > 0 then ${offset} + 1 + i % 3 end from generate_series(1, 12) i;
  insert into specs (film_id, camera, minutes) select ${offset} + i, (array['A', 'B', null])[1 + i % 3], 80 + i from generate_series(1, 12, 2) i;
  insert into actors (id, name) select ${offset} + i, 'actor ' || i from generate_series(1, 5) i;
  insert into roles (film_id, actor_id, character) select ${offset} + f, ${offset} + a, 'part ' || f * a
    from generate_series(1, 12) f, generate_series(1, 4) a where (f + a) % 3 = 0;
  insert into staff (id, name, boss_id) select ${offset} + i, 'staff ' || i, case when i > 1 then ${offset} + i / 2 end from generate_series(1, 7) i;
  insert into festivals (city, season, visitors) values ('Town ${offset}', 1, 100), ('Town ${offset}', 2, null);
  insert into screenings (id, city, season, film_id, winner_id)
    select ${offset} + i, 'Town ${offset}', 1 + i % 2, ${offset} + i, ${offset} + 13 - i from generate_series(1, 6) i;
`
