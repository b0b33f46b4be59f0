/**
 * Simulates months of use with real code between which every stored time is moved back, and runs what removes rows.
 * A table is as large after twelve months as after two if people keep the same; each table is found in the catalogue.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { PgBoss } from 'pg-boss'
import { afterAll, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { MAX_EARLIER_VERSIONS } from '#contract/message.ts'
import { sweepAuth, sweepBuckets } from '#server/auth/sweep.ts'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { addMessage, deleteConversation } from '#server/conversations/queries.ts'
import { rewriteAnswer } from '#server/conversations/rewrite-queries.ts'
import { storeSummary } from '#server/conversations/summary-queries.ts'
import { removeDiscardedBlobs, sweepBlobs } from '#server/documents/ingest/blob-cleanup.ts'
import { createDocumentJobs, INGEST_JOB } from '#server/documents/ingest/ingest-job.ts'
import { deleteDocument, insertDocument, renameDocument } from '#server/documents/store/library.ts'
import type { JobHandlers } from '#server/jobs/handler.ts'
import { installJobs, JOBS_SCHEMA } from '#server/jobs/install.ts'
import { type Jobs, startJobs } from '#server/jobs/start.ts'
import type { Embedder } from '#server/providers/embed.ts'
import { createBroadcasts } from '#server/realtime/broadcast.ts'
import { createChannels } from '#server/realtime/channels.ts'
import { followOutbox } from '#server/realtime/outbox-follow.ts'
import { scanOutbox } from '#server/realtime/outbox-scan.ts'
import { createPresences } from '#server/realtime/presence.ts'
import { createRetry } from '#server/realtime/retry.ts'
import { createSender } from '#server/realtime/sender.ts'
import { createIndexJobs } from '#server/search/index/merge-job.ts'
import { createEmbeddingJobs } from '#server/search/vectors/embed-job.ts'
import { inviteToSpace } from '#server/spaces/invitations.ts'
import { foldUsage, USAGE_DAYS_KEPT } from '#server/operation/usage-job.ts'
import { deleteEnded } from '#server/spaces/cleanup-job.ts'
import { createLink } from '#server/spaces/share-links.ts'
import { removeDiscardedBytes } from '#server/storage/discarded-bytes.ts'
import { openTestAssistant, type Person } from './assistant.ts'
import { PASSWORD, startAuthService } from './auth-service.ts'
import { jobRun } from './job-run.ts'
import { addReadDocument } from './library.ts'

const MONTH_MS = 30 * 24 * 60 * 60_000
const EMAIL = 'owner@example.test'

/** Tables that use does not write: those of migrations and of the start of a server, and those that nothing writes. */
const UNUSED = [
  'alcove.wrapped_secrets',
  'alcove_migrations.applied',
  'auth.audit_log_entries',
  'auth.instances',
  'auth.mfa_amr_claims',
  'pgboss.bam',
  'pgboss.job_dependency',
  'pgboss.queue_stats',
  'pgboss.schedule',
  'pgboss.subscription',
  'pgboss.warning',
  'public.chat_history',
  'public.operator_links',
  'public.operator_settings',
  'public.operators',
  'public.quotas',
  'public.usage_total',
  'public.users',
  'storage.buckets',
]
/** Counters and columns that are filled later; a row that grows with use would differ by far more. */
const largestOf = ({ rows, bytes }: Size): number => 1.1 * bytes + 50 * rows

const log = createLog('silent')
const { db, listener, assistant } = await openTestAssistant()
const { database, background, admin } = db
const service = await startAuthService({ db, anonymous: true })
const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-retention-'))
const blobs = createDiskStore(dataDir)
let months = 0

afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})

const embedder = (model: string): Embedder => ({
  model,
  batch: 32,
  embed: (texts) => Promise.resolve(texts.map(() => new Float32Array(8).fill(1 / Math.sqrt(8)))),
})
const documentJobs = createDocumentJobs({ database, blobs, log })
const mergeJobs = createIndexJobs({ database })

/** Runs all work that is due, as the sweep of the job queue would. */
async function runDue(handlers: JobHandlers): Promise<void> {
  for (const handler of Object.values(handlers))
    for (const { data } of (await handler.findWork?.()) ?? []) await handler.run(data, jobRun())
}

async function upload(person: Person, text: string): Promise<string> {
  const { id: blob } = await blobs.put(Readable.from([text]))
  const sha256 = createHash('sha256').update(text).digest('hex')
  const document = await database.asService((scope) =>
    insertDocument(scope, {
      owner: person.sub,
      name: `${sha256.slice(0, 8)}.txt`,
      mimetype: UPLOAD_TYPES.txt,
      size: Buffer.byteLength(text),
      path: blob,
      sha256,
    }),
  )
  if (!document) throw new Error('the file is there already')
  return document.id
}

async function ask(person: Person, conversationId: string, question: string): Promise<string> {
  const before = (await assistant.answersIn(person, conversationId)).length
  await assistant.ask(person, conversationId, question)
  const answers = () => assistant.answersIn(person, conversationId)
  await expect.poll(async () => (await answers()).length, { interval: 20 }).toBe(before + 1)
  const answer = (await answers()).at(-1)
  if (!answer) throw new Error('the answer is gone')
  return answer.id
}

async function regenerate(person: Person, conversationId: string, answerId: string): Promise<void> {
  const versionOf = async () =>
    (await assistant.answersIn(person, conversationId)).find(({ id }) => id === answerId)?.metadata?.version ?? 1
  const before = await versionOf()
  await rewriteAnswer(database, person, { conversationId, answerId }, null)
  await expect.poll(versionOf, { interval: 20 }).toBe(before + 1)
}

/** Conversations, files and settings that are there from the first month to the last. */
async function createBelongings() {
  const { user } = await service.signedIn(EMAIL)
  const person: Person = { ...(await db.createPerson()), sub: user.id, email: EMAIL }
  const other = await db.createPerson()
  await addReadDocument(database, person, 'lease.pdf', [
    'The notice period is three months.',
    'The deposit is two rents.',
  ])
  const conversationId = await assistant.startConversation(person)
  const answerId = await ask(person, conversationId, 'How long is the notice period? [[stub tokens=5]]')
  const [serverId, providerId, factorId, spaceId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  for (const [sql, values] of [
    [
      `insert into message_versions (message_id, version, content, created_at, metadata)
       select m.id, n, m.content, now(), m.metadata from messages m, generate_series(1, ${MAX_EARLIER_VERSIONS}) n where m.id = $1`,
      [answerId],
    ],
    [
      `update messages set metadata = metadata || jsonb_build_object('version', ${MAX_EARLIER_VERSIONS} + 1) where id = $1`,
      [answerId],
    ],
    ['insert into message_feedback (message_id, owner, rating) values ($1, $2, 1)', [answerId, person.sub]],
    ['insert into user_settings (owner) values ($1)', [person.sub]],
    [
      `insert into tool_servers (id, owner, name, url) values ($1, $2, 'home', 'https://tools.test/mcp')`,
      [serverId, person.sub],
    ],
    [
      `insert into tool_consents (conversation_id, server_id, tool, owner) values ($1, $2, 'add', $3)`,
      [conversationId, serverId, person.sub],
    ],
    [
      `insert into own_providers (id, owner, kind, name, base_url) values ($1, $2, 'compatible', 'Home', 'https://models.test/v1')`,
      [providerId, person.sub],
    ],
    [
      `insert into embeddings_consents (owner, address, model) values ($1, 'https://models.test/v1', 'meaning')`,
      [person.sub],
    ],
    [
      `insert into models (name, version, model_identifier, provider, family, context_window, owner, own_provider)
       values ('own', '1', 'endpoint:own', 'Home', 'compatible', 1000, $1, $2)`,
      [person.sub, providerId],
    ],
    [
      `insert into storage.objects (bucket_id, name, owner, blob_id) values ('documents', $1::uuid || '/lamp.txt', $1, $2)`,
      [person.sub, (await blobs.put(Readable.from(['lamp']))).id],
    ],
    [
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret)
       values ($1, $2, 'phone', 'totp', 'verified', 'x')`,
      [factorId, other.sub],
    ],
    [`insert into spaces (id, name, created_by) values ($1, 'Lighthouse', $2)`, [spaceId, person.sub]],
    [`insert into auth.recovery_codes (user_id, code_hash) values ($1, 'x')`, [other.sub]],
    [`insert into auth.test_accounts (user_id, marker) values ($1, 'x')`, [other.sub]],
  ] as const)
    await admin.query(sql, [...values])
  return { person, other, spaceId, conversationId, answerId, serverId, factorId }
}

type Belongings = Awaited<ReturnType<typeof createBelongings>>

/** Signs in and out of many kinds of doors, some of which strangers leave half open. */
async function signIns({ factorId }: Belongings): Promise<void> {
  const client = service.newClient()
  await client.auth.signInWithPassword({ email: EMAIL, password: PASSWORD })
  for (let refresh = 0; refresh < 3; refresh += 1) await client.auth.refreshSession()
  await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: `unfinished ${months}` })
  await service.newClient().auth.signInWithPassword({ email: EMAIL, password: 'wrong words' })
  for (let n = 0; n < 2; n += 1) {
    await service.newClient().auth.signUp({ email: `pending-${months}@example.test`, password: PASSWORD })
    await service.newClient().auth.resetPasswordForEmail(EMAIL)
  }
  await service.newPkceClient().auth.resetPasswordForEmail(EMAIL)
  await service.newAdmin().inviteUserByEmail(`invited-${months}@example.test`)
  await service.newClient().auth.signInAnonymously()
  await admin.query('insert into auth.mfa_challenges (factor_id) values ($1)', [factorId])
  await admin.query(
    `insert into auth.oauth_sign_ins (state_hash, browser_hash, provider, redirect_to) values ($1, 'b', 'github', '/')`,
    [`state ${months}`],
  )
  await admin.query(
    `insert into auth.saml_sign_ins (state_hash, sso_provider_id, redirect_to, in_own_page) values ($1, $2, '/', true)`,
    [`state ${months}`, randomUUID()],
  )
  await admin.query(`insert into auth.saml_assertions (id_hash, ends_at) values ($1, now() + interval '5 minutes')`, [
    `assertion ${months}`,
  ])
}

/** Members and links of a space that come and go. What happened in it stays for a year, so that each month here counts as one. */
async function spaces({ person, other, spaceId, conversationId }: Belongings): Promise<void> {
  await database.asUser(person, async (scope) => {
    await inviteToSpace(scope, spaceId, { email: `guest-${months}@example.test`, role: 'reader' })
    await createLink(scope, conversationId, { days: 7, isForAnybody: false })
  })
  await admin.query(
    `insert into space_providers (space_id, created_by, kind, name, base_url)
     values ($1, $2, 'compatible', 'Harbour', 'https://models.test/v1')`,
    [spaceId, person.sub],
  )
  await database.asUser(person, (scope) => scope.query('delete from space_providers'))
  await admin.query(`update space_events set created_at = created_at - interval '1 year'`)
  await admin.query(`insert into space_members (space_id, user_id, role) values ($1, $2, 'reader')`, [
    spaceId,
    other.sub,
  ])
  await database.asUser(other, (scope) =>
    scope.query('delete from space_members where space_id = $1 and user_id = $2', [spaceId, other.sub]),
  )
}

/** A conversation that its person deletes, and one more version of an answer that is kept. */
async function conversations({ person, conversationId, answerId, serverId }: Belongings): Promise<void> {
  const passing = await assistant.startConversation(person)
  const passingAnswer = await ask(person, passing, 'Hello [[stub tokens=300]]')
  await regenerate(person, passing, passingAnswer)
  await admin.query('insert into message_feedback (message_id, owner, rating) values ($1, $2, 1)', [
    passingAnswer,
    person.sub,
  ])
  await database.asService((scope) =>
    storeSummary(scope, { conversationId: passing, throughPosition: 1 + months, content: 'Greetings.', model: 'm' }),
  )
  await database.asUser(person, async (scope) => {
    await addMessage(scope, passing, { content: 'Add one and one. [[stub tokens=5]]' })
    await scope.query('reset role')
    await scope.query('set local role service_role')
    await scope.query(
      `insert into tool_requests (reply_id, conversation_id, server_id, owner, tool, arguments, expires_at)
       select id, conversation_id, $2, owner, 'add', '{}', now() + interval '1 hour' from replies
       where conversation_id = $1 and state = 'queued'`,
      [passing, serverId],
    )
  })
  await expect.poll(async () => (await assistant.answersIn(person, passing)).length, { interval: 20 }).toBe(2)
  await database.asUser(person, (scope) => deleteConversation(scope, passing))
  await regenerate(person, conversationId, answerId)
  await database.asUser(person, (scope) =>
    scope.query('select read_conversation($1, $2)', [conversationId, months + 1]),
  )
}

/** Files come and go; the index is left with deleted passages, other vectors, and bytes of failed uploads. */
async function files({ person }: Belongings, jobs: Jobs): Promise<void> {
  const read = await upload(person, `Minutes of month ${months}. The tide rose.`)
  jobs.enqueue(INGEST_JOB, { key: read, data: { documentId: read } })
  const stateOf = async () =>
    (await admin.query<{ state: string }>('select state from documents where id = $1', [read])).rows[0]?.state
  await expect.poll(stateOf, { interval: 50 }).toBe('ready')
  const model = embedder(`model ${months}`)
  await admin.query(
    `insert into embeddings_failures (owner, model, message, failed_at) values ($1, $2, 'Away.', now() - interval '1 hour')`,
    [person.sub, model.model],
  )
  const embedderOf = () => Promise.resolve(model)
  await runDue(createEmbeddingJobs({ database, embedderOf, defaultModel: model.model, log }))
  await database.asUser(person, (scope) => renameDocument(scope, read, 'renamed.txt'))
  const { rows } = await admin.query<{ id: string }>(`select id from documents where filename = 'lease.pdf'`)
  for (const { id } of rows) await database.asUser(person, (scope) => renameDocument(scope, id, 'lease.pdf'))
  await database.asUser(person, (scope) => deleteDocument(scope, read))

  const { id: left } = await blobs.put(Readable.from(['a request that failed']))
  await writeFile(`${blobFile(left)}.unfinished`, 'a server that died')
  const versions = [await blobs.put(Readable.from(['one'])), await blobs.put(Readable.from(['two']))]
  const [first, second] = versions.map(({ id }) => id)
  await admin.query(
    `insert into storage.objects (bucket_id, name, owner, blob_id) values ('documents', $1::uuid || '/passing.txt', $1, $2)`,
    [person.sub, first],
  )
  await admin.query('update storage.objects set blob_id = $2 where blob_id = $1', [first, second])
  await admin.query('delete from storage.objects where blob_id = $1', [second])
}

const blobFile = (id: string) => path.join(dataDir, 'blobs', id.slice(0, 2), id)

async function liveMessages(): Promise<void> {
  // Too large for a notification, so it is stored.
  await admin.query(`select realtime.send(jsonb_build_object('text', repeat('x', 9000)), 'greeting', 'room', true)`)
  const node = randomUUID()
  await admin.query('insert into realtime.nodes (id) values ($1)', [node])
  await admin.query(
    `insert into realtime.presences (channel, ref, node, room, key, meta) values ($1, 'r', $2, 'room', 'k', '{}')`,
    [randomUUID(), node],
  )
  await admin.query('create table passing (); drop table passing')
}

/** Moves every stored time, also of files, a month back: what happened until now is that old. Use by day stays longer than a year. */
async function age(): Promise<void> {
  const { rows } = await admin.query<{ name: string; assignments: string }>(
    `select c.oid::regclass::text as name, string_agg(format('%1$I = %1$I - interval ''30 days''', a.attname), ', ') as assignments
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'r' and c.relnamespace::regnamespace::text = any ('{auth,public,realtime,storage,pgboss}')
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.atttypid = 'timestamptz'::regtype
     group by c.oid`,
  )
  const updates = rows.map(({ name, assignments }) => `update ${name} set ${assignments};`).join('\n')
  await admin.query(`begin; set local session_replication_role = replica; ${updates} commit`)
  for (const table of ['usage_events', 'daily_usage'])
    await admin.query(`update ${table} set day = day - $1::integer`, [USAGE_DAYS_KEPT])
  const past = new Date(Date.now() - MONTH_MS)
  for (const entry of await readdir(path.join(dataDir, 'blobs'), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await utimes(path.join(entry.parentPath, entry.name), past, past)
  months += 1
}

interface Size {
  readonly rows: number
  readonly bytes: number
}

async function measure(): Promise<Record<string, Size>> {
  const sizes: Record<string, Size> = {}
  for (const table of await listTables()) {
    const { rows } = await admin.query<Size>(
      `select count(*)::int as rows, coalesce(sum(pg_column_size(t.*)), 0)::int as bytes from ${table} t`,
    )
    if (rows[0]) sizes[table] = rows[0]
  }
  const stored = await readdir(path.join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
  return { ...sizes, 'files of blobs': { rows: stored.filter((entry) => entry.isFile()).length, bytes: 0 } }
}

async function listTables(): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname <> 'information_schema' and n.nspname !~ '^pg_' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** PostgreSQL counts inserted rows a moment after their commit. */
async function listUnwritten(): Promise<string[]> {
  const { rows } = await admin.query<{ name: string; written: number }>(
    `select coalesce(p.parent, s.relid)::regclass::oid as table, n.nspname || '.' || c.relname as name, sum(s.n_tup_ins)::int as written
     from pg_stat_user_tables s
     left join (select inhrelid, inhparent as parent from pg_inherits) p on p.inhrelid = s.relid
     join pg_class c on c.oid = coalesce(p.parent, s.relid) join pg_namespace n on n.oid = c.relnamespace
     group by 1, 2 order by 2`,
  )
  return rows.filter(({ written }) => written === 0).map(({ name }) => name)
}

const CHANGES = '(select xid from realtime.changes union all select xid from realtime.schema_changes) c'

async function countChanges(condition = 'true'): Promise<number | undefined> {
  const { rows } = await admin.query<{ count: number }>(
    `select count(*)::int as count from ${CHANGES} where ${condition}`,
  )
  return rows[0]?.count
}

/** Changes that a sweep keeps because a transaction in progress may be older. */
const countUnsettledChanges = () => countChanges('xid >= pg_snapshot_xmin(pg_current_snapshot())')

const rowsOf = (sizes: Record<string, Size>) =>
  Object.fromEntries(Object.entries(sizes).map(([table, { rows }]) => [table, rows]))

test('a table is as large after a year as after two months if people keep the same', { retry: 0 }, async () => {
  await installJobs(db.adminConnection)
  await assistant.startWorker()
  const jobs = startJobs({ connection: db.connection, log, handlers: documentJobs, sweepIntervalMs: 3_600_000 })
  await jobs.started
  const boss = new PgBoss({
    db: { executeSql: (text, values) => admin.query(text, values) },
    schema: JOBS_SCHEMA,
    migrate: false,
    supervise: false,
    schedule: false,
  })
  await boss.start()
  const belongings = await createBelongings()
  const shared = { database, listener, log, retry: createRetry(log, () => false) }
  const channels = createChannels()
  const broadcasts = await createBroadcasts({ ...shared, channels, sender: createSender(1) })
  const presences = await createPresences({ ...shared, channels, sender: createSender(1) })
  const outbox = await (listener.isOrdered ? followOutbox : scanOutbox)({
    ...shared,
    deliver: () => Promise.resolve(),
    onSchemaChange: () => undefined,
    onRestart: () => undefined,
    clock: () => Date.now() + months * MONTH_MS,
  })

  async function liveAMonth(): Promise<void> {
    await signIns(belongings)
    await conversations(belongings)
    await spaces(belongings)
    await files(belongings, jobs)
    await liveMessages()
    // The horizon is that of the whole cluster, in which other tests have transactions too.
    await expect.poll(countUnsettledChanges, { timeout: 120_000 }).toBe(0)
    await expect
      .poll(
        async () => {
          // A horizon is received some time after the sweep that asks for it, and used once it is old.
          for (let n = 0; n < 3; n += 1) await outbox.sweep()
          await age()
          await outbox.sweep()
          return countChanges()
        },
        { timeout: 120_000 },
      )
      .toBe(0)
    await broadcasts.sweep()
    await presences.heartbeat()
    await sweepBuckets(database)
    await sweepAuth(background, { sessionDays: 30, sessionIdleDays: 14 })
    await removeDiscardedBytes(background, blobs)
    await removeDiscardedBlobs(database, blobs)
    await sweepBlobs({ database, blobs })
    await deleteEnded(database)
    await foldUsage(database)
    await runDue(mergeJobs)
    await boss.supervise()
  }

  for (let month = 0; month < 2; month += 1) await liveAMonth()
  const afterTwo = await measure()
  for (let month = 2; month < 12; month += 1) await liveAMonth()
  const afterTwelve = await measure()
  await outbox.close()
  await broadcasts.close()
  await presences.close()
  await jobs.stop()
  await boss.stop({ graceful: false })

  expect(rowsOf(afterTwelve)).toEqual(rowsOf(afterTwo))
  const grown = Object.entries(afterTwelve).filter(
    ([table, { bytes }]) => bytes > largestOf(afterTwo[table] ?? { rows: 0, bytes: 0 }),
  )
  expect(grown).toEqual([])
  await expect.poll(listUnwritten).toEqual(UNUSED)
})

test('the documentation says of every table what removes its rows', async () => {
  const text = await readFile(new URL('../docs/scale.md', import.meta.url), 'utf8')
  const [, section = ''] = /\n## What grows, and what removes it\n(.*?)\n## /su.exec(text) ?? []
  const named = [...section.matchAll(/`([a-z_]+\.[a-z_]+)`(?=[, |])/gu)].map(([, table]) => table)
  expect(named.toSorted()).toEqual(await listTables())
})
