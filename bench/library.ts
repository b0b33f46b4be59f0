import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createLog } from '#server/base/log.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import { migrate } from '#server/database/migrate.ts'
import { openDatabase } from '#server/database/open-database.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { indexDocument } from '#server/search/index/index-document.ts'
import { findMerges, mergeSegments } from '#server/search/index/segments.ts'

export type Person = Claims & { readonly sub: string }

export interface MadeDocument {
  readonly filename: string
  readonly pages: readonly string[]
}

export interface SpaceLibrary {
  readonly owner: string
  readonly space: string
}

export interface Library {
  readonly database: Database
  readonly admin: pg.Client
  createPerson(): Promise<Person>
  /** Stores pages as a parsed document through the code that indexes uploads; returns its id. */
  addDocument(person: Person, filename: string, pages: readonly string[]): Promise<string>
  /** Stores them in one transaction. */
  addDocuments(person: Person, documents: readonly MadeDocument[]): Promise<void>
  /** @param space the library copied to, and who owns its documents; by default the person's own */
  copyTo(from: Person, to: Person, space?: SpaceLibrary): Promise<void>
  /** Runs the background merges to completion. */
  mergeAll(): Promise<void>
  /** Bytes of everything except the text, after a vacuum. */
  measureIndex(): Promise<number>
  close(): Promise<void>
}

const INDEX_TABLES = ['search_segments', 'search_buckets', 'passages', 'document_index']

async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-bench-'))
  await chmod(dataDir, 0o711)
  return dataDir
}

/** @param lasting data folder for a server that starts afterwards; by default one that is removed */
export async function openLibrary(lasting?: string): Promise<Library> {
  const dataDir = lasting ?? (await makeDataDir())
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  const log = createLog('silent')
  const { databasePassword, authenticatorPassword } = await loadSecretsFromFolder(dataDir)
  const embedded = await startEmbedded(dataDir, databasePassword, log)
  await migrate(embedded.admin, { authenticatorPassword })
  const connection = { ...embedded.admin, user: 'authenticator', password: authenticatorPassword }
  const { database, close } = openDatabase(connection, log)
  const admin = new pg.Client(embedded.admin)
  await admin.connect()
  return {
    database,
    admin,
    async createPerson() {
      const sub = randomUUID()
      await admin.query('insert into auth.users (id, email) values ($1, $2)', [sub, `${sub}@example.test`])
      return { role: 'authenticated', sub }
    },
    addDocument: (person, filename, pages) =>
      database.asService((scope) => insertReadDocument(scope, person, { filename, pages })),
    addDocuments: (person, documents) =>
      database.asService(async (scope) => {
        for (const document of documents) await insertReadDocument(scope, person, document)
      }),
    copyTo: (from, to, space) => copyLibrary(admin, from, to, space),
    async mergeAll() {
      for (;;) {
        const due = await database.asService((scope) => findMerges(scope))
        if (due.length === 0) return
        for (const { owner, segments } of due) await mergeSegments(database, owner, segments)
      }
    },
    async measureIndex() {
      for (const table of INDEX_TABLES) await admin.query(`vacuum (full, analyze) ${table}`)
      const sizes = INDEX_TABLES.map((table) => `pg_total_relation_size('${table}')`).join(' + ')
      const { rows } = await admin.query<{ bytes: string }>(`select ${sizes} as bytes`)
      return Number(rows[0]?.bytes)
    },
    async close() {
      await admin.end()
      await close()
      await embedded.stop()
      if (lasting === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function insertReadDocument(
  scope: Scope,
  { sub: owner }: Person,
  { filename, pages: texts }: MadeDocument,
): Promise<string> {
  const id = randomUUID()
  const pages = texts.map((text, index) => ({ page: index + 1, text: text.replaceAll('\0', ' '), headings: null }))
  await scope.query(
    `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state)
     values ($1, $2, $3, $3, 'text/plain', 0, $4, $4, 'ready')`,
    [id, owner, filename, id],
  )
  await scope.query(
    `insert into document_pages (document_id, owner, page, text)
     select $1, $2, ordinality, text from unnest($3::text[]) with ordinality as given (text, ordinality)`,
    [id, owner, pages.map(({ text }) => text)],
  )
  await indexDocument(scope, { id, owner, filename }, pages)
  return id
}

async function copyLibrary(admin: pg.Client, from: Person, to: Person, space?: SpaceLibrary): Promise<void> {
  await admin.query(
    `create temporary table copies as select id as old, gen_random_uuid() as new from documents where owner = '${from.sub}'`,
  )
  const owner = `'${space?.space ?? to.sub}'::uuid`
  const addedBy = `'${space?.owner ?? to.sub}'::uuid`
  const spaceId = space ? `'${space.space}'::uuid` : 'null'
  for (const statement of [
    `insert into documents (id, owner, space_id, filename, originalname, mimetype, size, path, sha256, state, series, library)
     select c.new, ${addedBy}, ${spaceId}, filename, originalname, mimetype, size, c.new, c.new, state, c.new, ${owner} from documents d join copies c on c.old = d.id`,
    `insert into document_pages (document_id, owner, page, text)
     select c.new, ${owner}, page, text from document_pages t join copies c on c.old = t.document_id`,
    `insert into passages (document_id, owner, passage, page, "start", "end", heading)
     select c.new, ${owner}, passage, page, "start", "end", heading from passages p join copies c on c.old = p.document_id`,
    `create temporary table segment_copies as
     select segment as old, nextval(pg_get_serial_sequence('search_segments', 'segment')) as new from search_segments where owner = '${from.sub}'`,
    `insert into search_segments (segment, owner, buckets, passages, lengths, length, languages) overriding system value
     select c.new, ${owner}, buckets, passages, lengths, length, languages from search_segments s join segment_copies c on c.old = s.segment`,
    `insert into search_buckets select c.new, bucket, ${owner}, content from search_buckets b join segment_copies c on c.old = b.segment`,
    `insert into document_index (document_id, owner, tokenizer, language, filename, passages, length, segment, first_passage)
     select c.new, ${owner}, tokenizer, language, filename, passages, length, s.new, first_passage
     from document_index i join copies c on c.old = i.document_id join segment_copies s on s.old = i.segment`,
    'drop table copies, segment_copies',
  ])
    await admin.query(statement)
}
