import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { loadSecretsFromDatabase } from '#server/access/secrets.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { createS3Store } from '#server/blobs/s3.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { createBlobJobs, removeDiscardedBlobs } from '#server/documents/ingest/blob-cleanup.ts'
import { createLog } from '#server/base/log.ts'
import { migrate } from '#server/database/migrate.ts'
import { listOrphans } from '#server/documents/store/discarded-blobs.ts'
import { removeDiscardedBytes } from '#server/storage/discarded-bytes.ts'
import { installJobs } from '#server/jobs/install.ts'
import { createEmptyDatabase, databaseBefore, temporaryDatabase } from '#test/database.ts'
import { startFakeS3 } from '#test/fake-s3.ts'
import { copyDatabase } from './copy-database.ts'
import { backUp, type BackUpOptions, type BackUpSummary } from './back-up.ts'
import { nameBackup } from './manifest.ts'
import { openTarget } from './open-target.ts'
import { findBackup, restore, splitAddress } from './restore.ts'
import { markDatabase, requireEmptyStore, unmarkDatabase } from './restore-place.ts'

const PASSPHRASE = 'a passphrase of several words'
const NO_STORE = { endpoint: undefined, region: 'eu-test-1', accessKey: undefined, secretKey: undefined }

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-backup-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Filled {
  readonly connection: pg.ClientConfig
  readonly admin: pg.Pool
  readonly blobs: BlobStore
  readonly owner: string
}

type Source = Awaited<ReturnType<typeof temporaryDatabase>>

async function addDocument(admin: pg.Pool, blobs: BlobStore, owner: string, text: string): Promise<string> {
  const { id: blob, size } = await blobs.put(Readable.from([Buffer.from(text)]))
  const id = randomUUID()
  await admin.query(
    `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state)
     values ($1, $2, 'lamp.txt', 'lamp.txt', 'text/plain', $3, $4, encode(sha256(convert_to($5, 'UTF8')), 'hex'), 'ready')`,
    [id, owner, size, blob, `${id}${text}`],
  )
  await admin.query(`insert into document_pages (document_id, owner, page, text) values ($1, $2, 1, $3)`, [
    id,
    owner,
    text,
  ])
  return blob
}

/** A database with accounts, a conversation, documents and objects whose values are hard to copy. */
async function fill(source: Source, blobs: BlobStore): Promise<Filled> {
  const { admin, adminConnection } = source
  await installJobs(adminConnection)
  await loadSecretsFromDatabase(adminConnection, inject('postgres').secret)
  const { sub: owner } = await source.createPerson()
  const conversation = randomUUID()
  await admin.query(`insert into conversations (id, uid, title, model_name) values ($1, $2, $3, 'alcove-reader')`, [
    conversation, owner, 'tab\t back\\slash \\N "quotes" \r\n line ✓ 𝄞',
  ]) // prettier-ignore
  await admin.query(
    `insert into messages (conversation_id, content, sender_role, metadata) values ($1, $2, 1, $3), ($1, '\\.', 2, null)`,
    [conversation, '\\.\nWhere is the lamp?', { sources: [{ page: 1, start: 4, end: 12 }] }],
  )
  for (const text of ['The lamp stands in the alcove.', 'é✓\u2028', 'x'.repeat(300_000)])
    await addDocument(admin, blobs, owner, text)
  const object = await blobs.put(Readable.from([randomBytes(200_000)]))
  await admin.query(`insert into storage.objects (bucket_id, name, owner, blob_id) values ('documents', $1, $2, $3)`, [
    `${owner}/a/b.bin`,
    owner,
    object.id,
  ])
  return { connection: adminConnection, admin, blobs, owner }
}

/** A digest of the rows of each table, and the values of all sequences. */
async function digestTables(admin: pg.Pool | pg.Client): Promise<Record<string, string>> {
  const { rows } = await admin.query<{ name: string; kind: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'S', 'm', 'v') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`,
  )
  const digests: Record<string, string> = {}
  for (const { name } of rows.filter(({ kind }) => kind !== 'S')) {
    const found = await admin.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, e'\\n' order by t::text collate "C")), '') as digest from ${name} t`,
    )
    digests[name] = found.rows[0]?.digest ?? ''
  }
  // `log_cnt` of a sequence counts values that are logged ahead.
  for (const { name } of rows.filter(({ kind }) => kind === 'S')) {
    const found = await admin.query<{ digest: string }>(`select last_value || ' ' || is_called as digest from ${name}`)
    digests[name] = found.rows[0]?.digest ?? ''
  }
  return digests
}

async function digestBlobs(blobs: BlobStore): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { id } of blobs.list()) found[id] = (await buffer(await blobs.open(id))).toString('base64')
  return found
}

async function run(filled: Filled, address: string, options: Partial<BackUpOptions> = {}): Promise<BackUpSummary> {
  return backUp({
    connection: filled.connection,
    secrets: await loadSecretsFromDatabase(filled.connection, inject('postgres').secret),
    blobs: filled.blobs,
    target: options.target ?? (await openTarget(address, NO_STORE)),
    passphrase: undefined,
    version: '0.0.0',
    keepDays: 0,
    progress: () => undefined,
    ...options,
  })
}

interface Restoring {
  readonly passphrase?: string
  readonly blobs?: BlobStore
  readonly store?: typeof NO_STORE | Parameters<typeof openTarget>[1]
}

/** Into a database and a store of its own, which end with the calling test. */
async function restoreElsewhere(address: string, { passphrase, blobs, store = NO_STORE }: Restoring = {}) {
  const place = blobs ?? createDiskStore(await temporaryFolder())
  const { target, name } = splitAddress(address)
  const backup = await findBackup(await openTarget(target, store), { name, passphrase })
  const { admin, adminConnection } = await createEmptyDatabase()
  onTestFinished(() => admin.end())
  await markDatabase(adminConnection, backup.manifest.name, () => requireEmptyStore(place, 'The folder'))
  const sentences: string[] = []
  const resume = () =>
    restore({
      backup,
      connection: adminConnection,
      authenticatorPassword: inject('postgres').authenticatorPassword,
      blobs: place,
      progress: (sentence) => void sentences.push(sentence),
    })
  const summary = await resume()
  await unmarkDatabase(adminConnection)
  return { admin, adminConnection, blobs: place, summary, sentences, backup, resume }
}

async function openFilled(): Promise<Filled & { readonly source: Source }> {
  const source = await temporaryDatabase()
  return { ...(await fill(source, createDiskStore(await temporaryFolder()))), source }
}

test('restores every table, sequence, key and byte', async () => {
  const filled = await openFilled()
  const folder = await temporaryFolder()
  const before = await digestTables(filled.admin)
  const made = await run(filled, folder)
  expect(made).toMatchObject({ verified: true, blobs: 4, sent: made.bytes })
  expect(path.dirname(made.backup)).toBe(folder)

  const restored = await restoreElsewhere(made.backup)
  const found = await digestTables(restored.admin)
  expect(found).toEqual(before)
  expect(Object.values(before).filter((digest) => !digest.startsWith('0 ')).length).toBeGreaterThan(15)
  expect(await digestBlobs(restored.blobs)).toEqual(await digestBlobs(filled.blobs))
  expect(restored.summary).toMatchObject({ tables: made.tables, rows: made.rows, blobs: made.blobs })
  const secrets = await loadSecretsFromDatabase(filled.connection, inject('postgres').secret)
  expect(restored.backup.secrets).toEqual(secrets)
  // Triggers work again: an answered question is in the queue, and rows are searched.
  await restored.admin.query(
    `insert into messages (conversation_id, content, sender_role) select id, 'Which lamp?', 1 from conversations`,
  )
  expect((await restored.admin.query('select from replies')).rowCount).toBe(1 + Number(before['public.replies']?.[0]))
})

test('a further backup sends no bytes that the place has', async () => {
  const filled = await openFilled()
  const folder = await temporaryFolder()
  const first = await run(filled, folder)
  await addDocument(filled.admin, filled.blobs, filled.owner, 'A second lamp.')
  const blobFiles = path.join(folder, 'blobs')
  const written = new Map<string, number>()
  const list = async () => {
    const entries = await readdir(blobFiles, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  }
  const { stat } = await import('node:fs/promises')
  for (const file of await list()) written.set(file, (await stat(file)).mtimeMs)
  const opened: string[] = []
  const counting: BlobStore = {
    ...filled.blobs,
    open(id) {
      opened.push(id)
      return filled.blobs.open(id)
    },
  }
  const second = await run({ ...filled, blobs: counting }, folder)
  expect(opened).toHaveLength(1)
  for (const [file, time] of written) expect((await stat(file)).mtimeMs).toBe(time)
  expect(second.blobs).toBe(first.blobs + 1)
  expect(second.sent).toBeLessThan(second.bytes - 500_000)
  // The place of both means the newest one.
  const restored = await restoreElsewhere(folder)
  expect(restored.summary).toMatchObject({ backup: second.backup, blobs: second.blobs })
  expect((await restoreElsewhere(first.backup)).summary.blobs).toBe(first.blobs)
})

test('an encrypted backup says nothing without its passphrase', async () => {
  const filled = await openFilled()
  const folder = await temporaryFolder()
  const made = await run(filled, folder, { passphrase: PASSPHRASE })
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const { encryptionKey } = await loadSecretsFromDatabase(filled.connection, inject('postgres').secret)
  for (const entry of entries.filter((one) => one.isFile())) {
    const bytes = await readFile(path.join(entry.parentPath, entry.name))
    for (const text of ['lamp', 'alcove.', 'documents', encryptionKey])
      expect(bytes.includes(text), entry.name).toBe(false)
  }
  await expect(restoreElsewhere(made.backup)).rejects.toThrow('are encrypted: set BACKUP_PASSPHRASE')
  await expect(restoreElsewhere(made.backup, { passphrase: 'another passphrase' })).rejects.toThrow(
    'is not the passphrase',
  )
  await expect(run(filled, folder, { passphrase: 'another passphrase' })).rejects.toThrow('is not the passphrase')
  await expect(run(filled, folder)).rejects.toThrow('are encrypted: set BACKUP_PASSPHRASE')
  const again = await run(filled, folder, { passphrase: PASSPHRASE })
  expect(again.sent).toBeLessThan(again.bytes)
  const restored = await restoreElsewhere(again.backup, { passphrase: PASSPHRASE })
  expect(await digestTables(restored.admin)).toEqual(await digestTables(filled.admin))
  expect(await digestBlobs(restored.blobs)).toEqual(await digestBlobs(filled.blobs))
})

test.each([undefined, PASSPHRASE])(
  'names each file that is damaged, cut off or missing (passphrase %s)',
  async (passphrase) => {
    const filled = await openFilled()
    const folder = await temporaryFolder()
    const given = passphrase === undefined ? {} : { passphrase }
    const made = await run(filled, folder, given)
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
    const tables = files.filter((file) => file.includes('/tables/'))
    const stored = files.filter((file) => file.includes('/blobs/'))
    const chosen = [
      ...tables.slice(-2),
      ...stored.slice(-2),
      ...files.filter((file) => !/\/(tables|blobs)\//.test(file)),
    ]
    expect(chosen).toHaveLength(8)
    for (const [index, file] of chosen.entries()) {
      const bytes = await readFile(file)
      const changed = Buffer.from(bytes)
      changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 0x55
      const damaged = [changed, bytes.subarray(0, -1), undefined][index % 3]
      if (damaged === undefined) await rm(file)
      else await writeFile(file, damaged)
      await expect(
        restoreElsewhere(made.backup, given).then(() => undefined),
        `${file} ${damaged?.length ?? 'missing'}`,
      ).rejects.toThrow(/is damaged|is missing|cannot be read|There are no backups/)
      await writeFile(file, bytes)
    }
    expect((await restoreElsewhere(made.backup, given)).summary.blobs).toBe(4)
  },
  240_000,
)

test('a stored file that was damaged is sent again by the next backup', async () => {
  const filled = await openFilled()
  const folder = await temporaryFolder()
  await run(filled, folder)
  const [entry] = (await readdir(path.join(folder, 'blobs'), { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  const file = path.join(entry?.parentPath ?? '', entry?.name ?? '')
  const bytes = await readFile(file)
  await writeFile(file, Buffer.alloc(bytes.length))
  await run(filled, folder)
  expect((await readFile(file)).equals(bytes)).toBe(true)
})

test('refuses a place that is not empty, or belongs to another installation', async () => {
  const filled = await openFilled()
  const folder = await temporaryFolder()
  await writeFile(path.join(folder, 'letter.txt'), 'mine')
  await expect(run(filled, folder)).rejects.toThrow('holds other files, such as letter.txt')
  await rm(path.join(folder, 'letter.txt'))
  const made = await run(filled, folder)
  await expect(run(filled, folder, { passphrase: PASSPHRASE })).rejects.toThrow('are not encrypted')
  await expect(run(await openFilled(), folder)).rejects.toThrow('backups of another installation')

  const backup = await findBackup(await openTarget(folder, NO_STORE), { name: undefined, passphrase: undefined })
  await expect(markDatabase(filled.connection, backup.manifest.name, async () => undefined)).rejects.toThrow(
    'is not empty',
  )
  const used = createDiskStore(await temporaryFolder())
  await used.put(Readable.from([Buffer.from('x')]))
  await expect(restoreElsewhere(made.backup, { blobs: used })).rejects.toThrow('The folder is not empty')
  await expect(restoreElsewhere(path.join(folder, nameBackup(new Date())))).rejects.toThrow('is missing')
  await expect(restoreElsewhere(await temporaryFolder())).rejects.toThrow('There are no backups of Alcove')
})

test('two backups of one installation do not run at once, and bytes of deleted rows stay until the end', async () => {
  const filled = await openFilled()
  const { source, admin, blobs } = filled
  const before = await digestTables(admin)
  const folder = await temporaryFolder()
  const arrived = Promise.withResolvers<undefined>()
  const goOn = Promise.withResolvers<undefined>()
  const slow: BlobStore = {
    ...blobs,
    async open(id) {
      arrived.resolve(undefined)
      await goOn.promise
      return blobs.open(id)
    },
  }
  const running = run({ ...filled, blobs: slow }, folder)
  await arrived.promise
  await expect(run(filled, await temporaryFolder())).rejects.toThrow('Another backup of this installation is running')
  const ids = Object.keys(await digestBlobs(blobs))
  await admin.query('delete from documents')
  await admin.query(`delete from storage.objects`)
  await removeDiscardedBlobs(source.database, blobs)
  await removeDiscardedBytes(source.database, blobs)
  expect(
    await createBlobJobs({ database: source.database, blobs, log: createLog('silent') })['blobs.discard']?.findWork?.(),
  ).toEqual([])
  expect(await source.database.asService((scope) => listOrphans(scope, [randomUUID()]))).toEqual([])
  expect(Object.keys(await digestBlobs(blobs)).sort()).toEqual(ids.sort())
  goOn.resolve(undefined)
  const made = await running
  expect(made.missing).toBeUndefined()

  await removeDiscardedBlobs(source.database, blobs)
  await removeDiscardedBytes(source.database, blobs)
  expect(await digestBlobs(blobs)).toEqual({})
  const restored = await restoreElsewhere(made.backup)
  expect(await digestTables(restored.admin)).toEqual(before)
  expect(Object.keys(await digestBlobs(restored.blobs)).sort()).toEqual(ids.sort())
})

test('names the bytes of rows that the store had lost before', async () => {
  const filled = await openFilled()
  const [lost = ''] = Object.keys(await digestBlobs(filled.blobs))
  await filled.blobs.remove(lost)
  const made = await run(filled, await temporaryFolder())
  expect(made).toMatchObject({ blobs: 3, missing: [lost] })
})

test('holds one instant while people go on writing', async () => {
  const filled = await openFilled()
  const { admin, blobs, owner } = filled
  const conversation = (await admin.query<{ id: string }>('select id from conversations')).rows[0]?.id ?? ''
  const ending = new AbortController()
  const writing = (async () => {
    let written = 0
    for (; !ending.signal.aborted; written += 1) {
      // Both rows or none: a table that was read later than another would show one alone.
      const client = await admin.connect()
      try {
        await client.query('begin')
        await client.query(`insert into messages (conversation_id, content, sender_role) values ($1, $2, 2)`, [
          conversation,
          `pair ${written}`,
        ])
        await client.query(`update conversations set title = $1`, [`pair ${written}`])
        await client.query('commit')
      } finally {
        client.release()
      }
      await addDocument(admin, blobs, owner, `Lamp ${written}.`)
    }
    return written
  })()
  const folder = await temporaryFolder()
  const made = []
  for (let round = 0; round < 3; round += 1) made.push(await run(filled, folder))
  ending.abort()
  expect(await writing).toBeGreaterThan(5)
  for (const { backup, missing } of made) {
    expect(missing).toBeUndefined()
    const { admin: restored, blobs: bytes } = await restoreElsewhere(backup)
    const { rows } = await restored.query<{ title: string; last: string }>(
      `select title, (select content from messages where content like 'pair %' order by position desc limit 1) as last from conversations`,
    )
    expect(rows[0]?.last ?? rows[0]?.title).toBe(rows[0]?.title)
    const documents = await restored.query<{ path: string; size: number }>('select path, size from documents')
    for (const { path: id, size } of documents.rows) expect(await bytes.size(id)).toBe(size)
  }
}, 240_000)

test('from and to a store that speaks S3', async () => {
  const source = await temporaryDatabase()
  const [s3, other] = [await startFakeS3(), await startFakeS3()]
  onTestFinished(() => Promise.all([s3.close(), other.close()]).then(() => undefined))
  const filled = await fill(source, createS3Store(s3.options))
  const { endpoint, region, accessKey, secretKey, bucket } = other.options
  const store = { endpoint, region, accessKey, secretKey }
  const address = `s3://${bucket}/some/folder`
  const target = () => openTarget(address, store)
  const made = await run(filled, address, { target: await target(), passphrase: PASSPHRASE })
  expect(made.backup).toMatch(/^s3:\/\/blobs\/some\/folder\/2/)
  expect(other.keys().every((key) => key.startsWith('some/folder/'))).toBe(true)
  other.addUnfinished('some/folder/blobs/ab/cut-off', new Date())
  other.addUnfinished('elsewhere', new Date())
  const again = await run(filled, address, { target: await target(), passphrase: PASSPHRASE })
  expect(again.sent).toBeLessThan(again.bytes - 400_000)
  expect(other.keys()).toContain('elsewhere')
  expect(other.keys()).not.toContain('some/folder/blobs/ab/cut-off')

  const place = await startFakeS3()
  onTestFinished(() => place.close())
  const blobs = createS3Store(place.options)
  const restored = await restoreElsewhere(again.backup, { passphrase: PASSPHRASE, store, blobs })
  expect(await digestTables(restored.admin)).toEqual(await digestTables(filled.admin))
  expect(await digestBlobs(restored.blobs)).toEqual(await digestBlobs(filled.blobs))
  await expect(openTarget(address, NO_STORE)).rejects.toThrow('set BACKUP_S3_ENDPOINT')
})

test('the backup of an older version becomes a database of this one', async () => {
  const old = await databaseBefore('0059_pinned_first.sql')
  const { sub } = await old.createPerson()
  await old.admin.query(`insert into conversations (uid, title, model_name) values ($1, 'old', 'alcove-reader')`, [sub])
  const blobs = createDiskStore(await temporaryFolder())
  const made = await run(
    { connection: old.adminConnection, admin: old.admin, blobs, owner: sub },
    await temporaryFolder(),
  )
  const restored = await restoreElsewhere(made.backup)
  const { rows } = await restored.admin.query('select title, pinned from conversations')
  expect(rows).toEqual([{ title: 'old', pinned: false }])
  await migrate(old.adminConnection, { authenticatorPassword: inject('postgres').authenticatorPassword })
  const applied = 'select name, checksum from alcove_migrations.applied order by name'
  expect((await restored.admin.query(applied)).rows).toEqual((await old.admin.query(applied)).rows)
})

test('the backup of a newer version is refused before anything is changed', async () => {
  const filled = await openFilled()
  await filled.admin.query(
    `insert into alcove_migrations.applied (name, checksum) values ('product/9999_later.sql', 'x')`,
  )
  const made = await run(filled, await temporaryFolder())
  await expect(restoreElsewhere(made.backup)).rejects.toThrow('The backup is newer than this Alcove')
})

const OWN_OBJECTS = `
  create schema "My Shop";
  create type "My Shop".state as enum ('open', 'it''s closed');
  create domain "My Shop".amount as numeric(12, 2) default 0 check (value >= 0);
  create type "My Shop".pair as (a integer, b text);
  create sequence "My Shop".tens increment 10 start 10;
  create table "My Shop"."Orders" (
    id bigint generated always as identity primary key, code bigint default nextval('"My Shop".tens'), state "My Shop".state not null default 'open',
    price "My Shop".amount, twice numeric generated always as (price * 2) stored, shown text generated always as (code::text) virtual,
    parts text[], place "My Shop".pair, raw bytea, at timestamptz, ratio float8, "select" text collate "C", parent bigint
  );
  create table "My Shop".lines (id integer primary key, "order" bigint references "My Shop"."Orders" on delete cascade, main boolean);
  alter table "My Shop"."Orders" add main_line integer references "My Shop".lines deferrable initially deferred;
  create index on "My Shop"."Orders" (lower("select")) where state = 'open';
  create table "My Shop".visits (at date not null, n integer, primary key (at, n)) partition by range (at);
  create table "My Shop".visits_2026 partition of "My Shop".visits for values from ('2026-01-01') to ('2027-01-01');
  create index on "My Shop".visits (n);
  create function "My Shop".total() returns numeric language sql stable as 'select sum(price) from "My Shop"."Orders"';
  create view "My Shop".open_orders with (security_invoker = true) as select * from "My Shop"."Orders" where state = 'open';
  create function "My Shop".count_lines() returns trigger language plpgsql as $$ begin raise exception 'a trigger ran'; end $$;
  alter table "My Shop"."Orders" enable row level security;
  create policy "everybody reads" on "My Shop"."Orders" for select to authenticated using (state = 'open');
  grant usage on schema "My Shop" to authenticated;
  grant select (id, price), insert on "My Shop"."Orders" to authenticated;
  create table public.notes (id uuid primary key, body text, owner uuid references auth.users on delete cascade);
  alter publication supabase_realtime add table public.notes;
  insert into "My Shop"."Orders" (price, parts, place, raw, at, ratio, "select") values
    (1.50, '{a,NULL,"b,c"}', '(1,"x y")', '\\x00ff5c', 'infinity', 'NaN', 'tab	end'), (2, '{}', null, '', '-infinity', -0.1, '');
  insert into "My Shop".lines values (1, 1, true);
  update "My Shop"."Orders" set main_line = 1 where id = 1;
  insert into "My Shop".visits values ('2026-05-05', 1), ('2026-05-06', 2);
  create trigger refuse before insert on "My Shop".lines for each row execute function "My Shop".count_lines();
  comment on schema "My Shop" is 'Where we sell lamps';
  comment on table "My Shop"."Orders" is 'It''s all \\ of them\n✓';
  comment on column "My Shop"."Orders"."select" is 'A reserved word';
  comment on constraint lines_pkey on "My Shop".lines is 'One each';
  comment on view "My Shop".open_orders is 'Not delivered';
  comment on column "My Shop".open_orders.price is 'In francs';
  comment on type "My Shop".state is 'Never empty';
  comment on domain "My Shop".amount is 'In francs';
  comment on column "My Shop".pair.b is 'The second';
  comment on sequence "My Shop".tens is 'By ten';
  comment on index "My Shop".visits_n_idx is 'For the chart';
  comment on function "My Shop".total() is 'Of all';
  comment on trigger refuse on "My Shop".lines is 'For the test';
  comment on policy "everybody reads" on "My Shop"."Orders" is 'Open ones';
  comment on table public.documents is 'Of one of our own tables';
  create extension pg_trgm;
  comment on publication supabase_realtime is 'For pages';
  create publication "My Own" for table public.notes;
  comment on publication "My Own" is 'For a copy';
  create publication "Of All" for all tables;
  create publication "Of a Shop" for tables in schema "My Shop" with (publish = 'insert, delete', publish_via_partition_root)`

/** A takeover names these instead of creating them. */
const MATERIALIZED = `
  create materialized view "My Shop".counted as select 1 as one;
  comment on materialized view "My Shop".counted is 'Since the morning';
  comment on column "My Shop".counted.one is 'Always one'`

test('holds the tables that people made themselves, with everything about them', async () => {
  const filled = await openFilled()
  await filled.admin.query(OWN_OBJECTS)
  await filled.admin.query(MATERIALIZED)
  const made = await run(filled, await temporaryFolder())
  const restored = await restoreElsewhere(made.backup)
  expect(restored.sentences.filter((sentence) => sentence.startsWith('Not restored'))).toEqual([])
  expect(await digestTables(restored.admin)).toEqual(await digestTables(filled.admin))
  // A backup of the restored database describes the same objects.
  const second = await run({ ...filled, connection: restored.adminConnection }, await temporaryFolder(), {
    secrets: restored.backup.secrets,
  })
  const manifestOf = async (backup: string) => {
    const { target, name } = splitAddress(backup)
    return (await findBackup(await openTarget(target, NO_STORE), { name, passphrase: undefined })).manifest
  }
  const { statements } = await manifestOf(made.backup)
  expect((await manifestOf(second.backup)).statements).toEqual(statements)
  expect(statements.filter((statement) => statement.startsWith('comment on'))).toHaveLength(
    [...`${OWN_OBJECTS}${MATERIALIZED}`.matchAll(/comment on/g)].length,
  )
  await expect(restored.admin.query(`insert into "My Shop".lines values (2, 1)`)).rejects.toThrow('a trigger ran')
  await expect(
    restored.admin.query(`delete from "My Shop"."Orders" where id = 1; insert into "My Shop"."Orders" (id) values (1)`),
  ).rejects.toThrow()
})

async function takeOver(from: pg.ClientConfig) {
  const { admin, adminConnection } = await createEmptyDatabase()
  onTestFinished(() => admin.end())
  const sentences: string[] = []
  await copyDatabase({
    from,
    to: adminConnection,
    authenticatorPassword: inject('postgres').authenticatorPassword,
    progress: (sentence) => void sentences.push(sentence),
  })
  return { admin, sentences }
}

const COMMENT_ON_PUBLIC = `select obj_description('public'::regnamespace, 'pg_namespace') as comment`

test('a takeover copies the objects that people made themselves', async () => {
  const filled = await openFilled()
  await filled.admin.query(OWN_OBJECTS)
  await filled.admin.query(`comment on schema public is 'Of us all'`)
  const { admin, sentences } = await takeOver(filled.connection)
  expect(sentences.filter((sentence) => sentence.startsWith('Left'))).toEqual([])
  expect(await digestTables(admin)).toEqual(await digestTables(filled.admin))
  expect((await admin.query(COMMENT_ON_PUBLIC)).rows).toEqual([{ comment: 'Of us all' }])
})

const PUBLICATIONS = `
  select pubname, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot,
    array(select format('%I.%I', schemaname, tablename) from pg_publication_tables t where t.pubname = p.pubname order by 1) as tables
  from pg_publication p order by pubname`

test('a takeover and a restore keep publications for all tables and for those of a schema', async () => {
  const filled = await openFilled()
  await filled.admin.query(OWN_OBJECTS)
  const { rows: before } = await filled.admin.query<{ pubname: string }>(PUBLICATIONS)
  expect(before.map(({ pubname }) => pubname)).toEqual(['My Own', 'Of All', 'Of a Shop', 'supabase_realtime'])
  const { admin } = await takeOver(filled.connection)
  expect((await admin.query(PUBLICATIONS)).rows).toEqual(before)
  const restored = await restoreElsewhere((await run(filled, await temporaryFolder())).backup)
  expect((await restored.admin.query(PUBLICATIONS)).rows).toEqual(before)
})

test('a takeover refuses a publication of our own that was made one for all tables', async () => {
  const filled = await openFilled()
  await filled.admin.query('drop publication supabase_realtime; create publication supabase_realtime for all tables')
  await expect(takeOver(filled.connection)).rejects.toThrow(
    'This would be lost: create publication supabase_realtime for all tables;',
  )
})

test('a takeover minds settings of its own database, and none of another one', async () => {
  const [filled, other] = [await openFilled(), await temporaryDatabase()]
  const set = ({ admin, connection }: Pick<Source, 'admin' | 'connection'>, size: string) =>
    admin.query(`alter database ${connection.database ?? ''} set work_mem = '${size}'`)
  await set(other, '5MB')
  await takeOver(filled.connection)
  await set(filled, '6MB')
  await expect(takeOver(filled.connection)).rejects.toThrow(
    'This would be left behind: setting work_mem of this database.',
  )
})

test('a takeover needs no comment on the schema public', async () => {
  const filled = await openFilled()
  await filled.admin.query('comment on schema public is null')
  const { admin } = await takeOver(filled.connection)
  expect(await digestTables(admin)).toEqual(await digestTables(filled.admin))
})

test('a takeover names comments that it cannot copy', async () => {
  const filled = await openFilled()
  await filled.admin.query(`create domain amount as integer constraint positive check (value > 0);
    comment on constraint positive on domain amount is 'Never less'`)
  await expect(takeOver(filled.connection)).rejects.toThrow(
    'This would be left behind: comment on constraint positive.',
  )
})

test('a role that may not switch off triggers restores the same', async () => {
  const filled = await openFilled()
  await filled.admin.query(OWN_OBJECTS)
  const made = await run(filled, await temporaryFolder())
  const { admin, adminConnection } = await createEmptyDatabase()
  const role = `operator_${randomUUID().slice(0, 8)}`
  await admin.query(`create role ${role} login createrole bypassrls password 'operator'`)
  await admin.query(
    `grant anon, authenticated, service_role, supabase_auth_admin, authenticator to ${role} with admin option`,
  )
  await admin.query(`alter database ${adminConnection.database ?? ''} owner to ${role}`)
  onTestFinished(async () => {
    await admin.query(
      `drop owned by ${role} cascade; alter database ${adminConnection.database ?? ''} owner to postgres`,
    )
    await admin.query(`drop role ${role}`)
    await admin.end()
  })
  const { target, name } = splitAddress(made.backup)
  const backup = await findBackup(await openTarget(target, NO_STORE), { name, passphrase: undefined })
  const connection = { ...adminConnection, user: role, password: 'operator' }
  await markDatabase(connection, backup.manifest.name, async () => undefined)
  const { authenticatorPassword } = inject('postgres')
  await restore({
    backup,
    connection,
    authenticatorPassword,
    blobs: createDiskStore(await temporaryFolder()),
    progress: () => undefined,
  })
  await unmarkDatabase(connection)
  expect(await digestTables(admin)).toEqual(await digestTables(filled.admin))
})

test('old backups go after the time they are to stay, with the bytes that only they had', async () => {
  const filled = await openFilled()
  const folder = await temporaryFolder()
  const first = await run(filled, folder)
  const { rename } = await import('node:fs/promises')
  const aged = path.join(folder, nameBackup(new Date(Date.now() - 40 * 24 * 60 * 60_000)))
  await rename(first.backup, aged)
  const [gone = ''] = (
    await filled.admin.query<{ path: string }>('delete from documents where size < 30 returning path')
  ).rows.map((row) => row.path)
  await removeDiscardedBlobs(filled.source.database, filled.blobs)
  const second = await run(filled, folder, { keepDays: 60 })
  expect(await readdir(folder)).toContain(path.basename(aged))
  const third = await run(filled, folder, { keepDays: 30 })
  expect(await readdir(folder)).not.toContain(path.basename(aged))
  expect(await readdir(path.join(folder, 'blobs', gone.slice(0, 2))).catch(() => [])).not.toContain(gone)
  for (const { backup, blobs } of [second, third]) expect((await restoreElsewhere(backup)).summary.blobs).toBe(blobs)
})
