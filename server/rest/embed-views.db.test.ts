/** Embedding without a foreign key: views, and functions of a row. */
import type { PostgrestClient } from '@supabase/postgrest-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { type RestTestService, startRestService } from '#test/rest-service.ts'

let service: RestTestService
let person: Claims & { sub: string }
let other: Claims & { sub: string }
let client: PostgrestClient

beforeAll(async () => {
  service = await startRestService()
  person = await service.db.createPerson()
  other = await service.db.createPerson()
  await service.db.admin.query(`
    create schema hidden;
    grant usage on schema hidden to authenticated;
    create table hidden.shelves (id bigint primary key, label text not null);
    create table public.authors (id bigint primary key, owner uuid not null, name text not null);
    create table public.books (
      id bigint primary key, owner uuid not null, title text not null,
      author_id bigint references public.authors on delete cascade,
      shelf_id bigint references hidden.shelves on delete cascade
    );
    alter table public.authors enable row level security;
    alter table public.books enable row level security;
    create policy "owner reads own authors" on public.authors for all using (owner = auth.uid());
    create policy "owner reads own books" on public.books for all using (owner = auth.uid());
    create view public.writers with (security_invoker) as
      select id as writer_id, name, owner, (select count(*) from public.books b where b.author_id = a.id) as id
      from public.authors a;
    create view public.famous_writers with (security_invoker) as select * from public.writers;
    create view public.shelves as select id, label from hidden.shelves;
    create function public.best_book(authors) returns setof books rows 1 stable language sql
      as $$ select * from books where author_id = $1.id order by id limit 1 $$;
    create function public.all_books(author authors) returns setof books stable language sql
      as $$ select * from books where author_id = author.id $$;
    create function public.loud(authors) returns text stable language sql as $$ select upper($1.name) $$;
    create function public.find_authors(wanted text) returns setof authors stable language sql
      as $$ select * from authors where name = wanted $$;
    create function public.find_writers(wanted text) returns setof writers stable language sql
      as $$ select * from writers where name = wanted $$;
    insert into hidden.shelves values (1, 'top');
    insert into public.authors values (1, '${person.sub}', 'Ada'), (2, '${person.sub}', 'Ben'), (3, '${other.sub}', 'Eve');
    insert into public.books values
      (10, '${person.sub}', 'First', 1, 1), (11, '${person.sub}', 'Second', 1, null), (12, '${other.sub}', 'Foreign', 1, 1);
    grant select, insert, update on all tables in schema public to authenticated;
    grant select on all tables in schema hidden to authenticated;
    grant execute on all functions in schema public to authenticated`)
  client = await service.clientOf(person)
})
afterAll(() => service.close())

const rowsOf = async (asked: PromiseLike<{ data: unknown; error: unknown }>) => {
  const { data, error } = await asked
  expect(error).toBeNull()
  return data
}

const [first, second] = [{ title: 'First' }, { title: 'Second' }]

test('a view embeds and is embedded through the foreign keys of its tables', async () => {
  expect(await rowsOf(client.from('books').select('title,writers(name)').eq('id', 10))).toEqual([
    { title: 'First', writers: { name: 'Ada' } },
  ])
  for (const view of ['writers', 'famous_writers']) {
    expect(await rowsOf(client.from(view).select('name,books(title)').order('writer_id'))).toEqual([
      { name: 'Ada', books: [first, second] },
      { name: 'Ben', books: [] },
    ])
  }
  expect(await rowsOf(client.from('books').select('title,shelves!inner(label)'))).toEqual([
    { title: 'First', shelves: { label: 'top' } },
  ])
})

test('a foreign key or its column means the table even if views show it', async () => {
  expect(await rowsOf(client.from('books').select('author_id(name)').eq('id', 10))).toEqual([
    { author_id: { name: 'Ada' } },
  ])
})

test('a function of a row is embedded by its name with filters of its own', async () => {
  const authors = client.from('authors')
  expect(await rowsOf(authors.select('name,best_book(title),all_books(title)').order('id'))).toEqual([
    { name: 'Ada', best_book: first, all_books: [first, second] },
    { name: 'Ben', best_book: null, all_books: [] },
  ])
  expect(await rowsOf(authors.select('name,all_books!inner(title)').eq('all_books.id', 11))).toEqual([
    { name: 'Ada', all_books: [second] },
  ])
})

test('rows that a call returns can embed relations and computed columns', async () => {
  const call = client.rpc('find_authors', { wanted: 'Ada' })
  expect(await rowsOf(call.select('loud,best_book(title),books(id)').eq('loud', 'ADA'))).toEqual([
    { loud: 'ADA', best_book: first, books: [{ id: 10 }, { id: 11 }] },
  ])
  expect(await rowsOf(client.rpc('find_writers', { wanted: 'Ada' }).select('name,books(title)'))).toEqual([
    { name: 'Ada', books: [first, second] },
  ])
})

test('a write returns computed columns of its row', async () => {
  const added = client.from('authors').upsert({ id: 2, owner: person.sub, name: 'Benno' })
  expect(await rowsOf(added.select('name,all_books(title)'))).toEqual([{ name: 'Benno', all_books: [] }])
})

test('views and functions do not reveal rows of another person', async () => {
  const stranger = await service.clientOf(other)
  expect(await rowsOf(stranger.from('writers').select('name,books(title)'))).toEqual([{ name: 'Eve', books: [] }])
  expect(await rowsOf(stranger.from('authors').select('name,all_books(title),best_book(title)'))).toEqual([
    { name: 'Eve', all_books: [], best_book: null },
  ])
  expect(await rowsOf(stranger.from('books').select('title,writers(name)'))).toEqual([
    { title: 'Foreign', writers: null },
  ])
})
