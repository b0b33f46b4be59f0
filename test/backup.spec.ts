/** The commands `backup` and `restore` over data folders, with and without a running server, and killed at any moment. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { BACKUP_LOCK } from '#server/database/backup-lock.ts'
import { type AlcoveProcess, type Environment, startAlcove, startRefusing } from './alcove.ts'
import { runCommand, succeed, temporaryPlace } from './backup-command.ts'
import { createEmptyDatabase } from './database.ts'
import { copyStartedDataDir } from './started-data.ts'
import { createRandom } from './fuzz/random.ts'

const PASSWORD = 'a long enough password'
const PASSPHRASE = 'a passphrase of several words'

async function startOver(dataDir: string): Promise<AlcoveProcess> {
  const alcove = await startAlcove({ DATA_DIR: dataDir, AUTH_AUTOCONFIRM: 'true' })
  onTestFinished(async () => {
    await alcove.end()
  })
  return alcove
}

const openClient = async (alcove: AlcoveProcess) =>
  createClient(alcove.url, (await alcove.config()).supabaseAnonKey, { auth: { persistSession: false } })

const LAMPS = Array.from(
  { length: 40 },
  (_, index) => `The lamp number ${index} stands in the alcove of room ${index * 7}.\n`,
)

/** A person with files and an answer that cites one of them. */
async function live(alcove: AlcoveProcess) {
  const email = `${randomUUID()}@example.test`
  const client = await openClient(alcove)
  const { data, error } = await client.auth.signUp({ email, password: PASSWORD })
  if (error ?? !data.session) throw error ?? new Error('no session')
  const headers = { authorization: `Bearer ${data.session.access_token}` }
  const form = new FormData()
  for (const [index, text] of LAMPS.entries())
    form.append('files', new Blob([text], { type: 'text/plain' }), `lamp ${index}.txt`)
  expect((await fetch(`${alcove.url}/api/documents`, { method: 'POST', headers, body: form })).status).toBe(201)
  const ready = async () =>
    (await client.from('documents').select('id').eq('state', 'ready')).data?.length === LAMPS.length
  await vi.waitUntil(ready, { timeout: 60_000 })
  const conversation = randomUUID()
  await client
    .from('conversations')
    .insert({ id: conversation, uid: data.session.user.id, model_name: 'alcove-reader' })
  await client
    .from('messages')
    .insert({ conversation_id: conversation, content: 'Where is lamp number 7?', sender_role: 1 })
  await vi.waitUntil(async () => (await client.from('messages').select('id')).data?.length === 2, { timeout: 60_000 })
  return { email, headers, client }
}

/** Reads all that the person sees: messages with their sources, the pages that they open on, and the files. */
async function see(
  alcove: AlcoveProcess,
  { client, headers }: Pick<Awaited<ReturnType<typeof live>>, 'client' | 'headers'>,
) {
  const read = async (table: string, order: string) => (await client.from(table).select().order(order)).data
  const documents = z.array(z.looseObject({ id: z.string() })).parse(await read('documents', 'id'))
  const files = []
  for (const { id } of documents) {
    const response = await fetch(`${alcove.url}/api/documents/${id}/file`, { headers })
    expect(response.status).toBe(200)
    files.push(
      createHash('sha256')
        .update(Buffer.from(await response.arrayBuffer()))
        .digest('hex'),
    )
  }
  return {
    messages: await read('messages', 'position'),
    pages: await read('document_pages', 'document_id'),
    documents,
    files,
  }
}

test(
  'a backup of a running server opens with the same keys, answers, citations and files',
  { timeout: 240_000 },
  async () => {
    const source = await copyStartedDataDir()
    onTestFinished(source.remove)
    const alcove = await startOver(source.dataDir)
    const person = await live(alcove)
    const before = await see(alcove, person)
    const cited = z
      .array(z.looseObject({ metadata: z.looseObject({ sources: z.array(z.unknown()).optional() }).nullable() }))
      .parse(before.messages)
    expect(cited.at(-1)?.metadata?.sources?.length).toBeGreaterThan(0)

    const { folder, dataDir } = await temporaryPlace()
    const environment = { BACKUP_PASSPHRASE: PASSPHRASE }
    const first = await succeed('backup', folder, { DATA_DIR: source.dataDir, ...environment })
    expect((await fetch(`${alcove.url}/healthz`)).status).toBe(200)
    await alcove.end()
    // A backup without a server sends no file again.
    const second = await succeed('backup', folder, { DATA_DIR: source.dataDir, ...environment })
    expect(await readdir(folder)).toHaveLength(4)

    const refused = await runCommand('restore', folder, { DATA_DIR: source.dataDir, ...environment })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`DATA_DIR "${source.dataDir}" is not empty`)
    expect(refused.stdout).toBe('')

    const restored = await succeed('restore', first.backup, { DATA_DIR: dataDir, ...environment })
    expect(restored.backup).toBe(first.backup)
    const again = await startOver(dataDir)
    const client = await openClient(again)
    const signedIn = await client.auth.signInWithPassword({ email: person.email, password: PASSWORD })
    expect(signedIn.error).toBeNull()
    // The access token that the other server had signed is accepted too.
    expect(await see(again, { client, headers: person.headers })).toEqual(before)
    const [conversation] = (await client.from('conversations').select('id')).data ?? []
    await client
      .from('messages')
      .insert({ conversation_id: conversation?.id, content: 'Where is lamp number 8?', sender_role: 1 })
    await vi.waitUntil(async () => (await client.from('messages').select('id')).data?.length === 4, { timeout: 60_000 })

    const newest = await temporaryPlace()
    expect((await succeed('restore', folder, { DATA_DIR: newest.dataDir, ...environment })).backup).toBe(second.backup)
  },
)

async function digestFolder(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const digests: Record<string, string> = {}
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    digests[path.relative(folder, file)] = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  }
  return digests
}

const manifestSchema = z.looseObject({
  tables: z.array(
    z.looseObject({
      schema: z.string(),
      name: z.string(),
      rows: z.number(),
      record: z.looseObject({ sha256: z.string() }),
    }),
  ),
})

/**
 * Hashes of the rows of all tables in a backup that is not encrypted. pg-boss makes a table for each day, so an empty one of these
 * tells only when the database was started.
 */
async function digestTables(backup: string): Promise<Record<string, string>> {
  const [json = ''] = (await readFile(path.join(backup, 'manifest'), 'utf8')).split('\n')
  return Object.fromEntries(
    manifestSchema
      .parse(JSON.parse(json))
      .tables.filter(({ name, rows }) => rows > 0 || !name.startsWith('queue_stats_'))
      .map(({ schema, name, rows, record }) => [`${schema}.${name}`, `${rows} ${record.sha256}`]),
  )
}

const KILLS = Number(process.env['BACKUP_KILLS'] ?? 4)

test(`killed ${KILLS} times each, backup and restore end whole`, { timeout: 900_000 }, async () => {
  const seed = Number(process.env['BACKUP_SEED'] ?? 31)
  const random = createRandom(seed)
  const source = await copyStartedDataDir()
  onTestFinished(source.remove)
  const alcove = await startOver(source.dataDir)
  await live(alcove)
  await alcove.end()

  const measured = await temporaryPlace()
  const fromSource = { DATA_DIR: source.dataDir }
  const startedAt = performance.now()
  const reference = await digestTables((await succeed('backup', measured.folder, fromSource)).backup)
  const backupMs = performance.now() - startedAt

  const { folder, dataDir } = await temporaryPlace()
  for (let kill = 0; kill < KILLS; kill += 1) await runCommand('backup', folder, fromSource, random.int(backupMs))
  const { backup } = await succeed('backup', folder, fromSource)
  expect(await digestTables(backup)).toEqual(reference)
  const names = Object.keys(await digestFolder(folder))
  expect(names.filter((name) => name.endsWith('.unfinished'))).toEqual([])
  expect(names.filter((name) => name.startsWith('blobs/'))).toHaveLength(LAMPS.length)

  const whole = await temporaryPlace()
  const restoreStartedAt = performance.now()
  await succeed('restore', backup, { DATA_DIR: whole.dataDir })
  const restoreMs = performance.now() - restoreStartedAt
  let unfinished = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { code } = await runCommand('restore', backup, { DATA_DIR: dataDir }, random.int(restoreMs))
    if (code === 0) {
      await rm(dataDir, { recursive: true })
      continue
    }
    if (!existsSync(path.join(dataDir, 'restore.unfinished'))) continue
    unfinished += 1
    const refused = await startRefusing({ DATA_DIR: dataDir })
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('was cut off: run it again with the same backup')
    expect((await runCommand('backup', whole.folder, { DATA_DIR: dataDir })).stderr).toContain('was cut off')
  }
  expect(unfinished).toBeGreaterThan(0)
  await succeed('restore', backup, { DATA_DIR: dataDir })
  const checked = await temporaryPlace()
  const copy = await succeed('backup', checked.folder, { DATA_DIR: dataDir })
  expect(await digestTables(copy.backup)).toEqual(reference)
  expect(await digestFolder(path.join(dataDir, 'blobs'))).toEqual(
    await digestFolder(path.join(source.dataDir, 'blobs')),
  )
  await startOver(dataDir)
})

test('a restore of another backup begins again in a folder that holds half of one', { timeout: 240_000 }, async () => {
  const source = await copyStartedDataDir()
  onTestFinished(source.remove)
  const { folder, dataDir } = await temporaryPlace()
  const { backup } = await succeed('backup', folder, { DATA_DIR: source.dataDir })
  await mkdir(path.join(dataDir, 'blobs', 'ab'), { recursive: true })
  await writeFile(path.join(dataDir, 'restore.unfinished'), '2026-01-01T00-00-00-000Z')
  await writeFile(path.join(dataDir, 'blobs', 'ab', randomUUID()), 'left by the other one')
  await succeed('restore', backup, { DATA_DIR: dataDir })
  expect(existsSync(path.join(dataDir, 'blobs', 'ab'))).toBe(false)
})

const readMetric = async (alcove: AlcoveProcess, name: string): Promise<string | undefined> =>
  new RegExp(`^${name} (.+)$`, 'm').exec(await (await fetch(`${alcove.url}/metrics`)).text())?.[1]

test('backups by schedule are made once, removed in time, and seen in the metrics', { timeout: 180_000 }, async () => {
  const source = await copyStartedDataDir()
  onTestFinished(source.remove)
  const { folder } = await temporaryPlace()
  const environment = { DATA_DIR: source.dataDir, BACKUP_TARGET: folder, BACKUP_PASSPHRASE: PASSPHRASE }
  const alcove = await startAlcove(environment)
  await alcove.printed('a backup was made and read back')
  expect(Number(await readMetric(alcove, 'alcove_backup_age_seconds'))).toBeLessThan(60)
  expect(await readMetric(alcove, 'alcove_backup_failed')).toBe('0')
  expect(Number(await readMetric(alcove, 'alcove_backup_bytes'))).toBeGreaterThan(1_000)
  await alcove.end()
  const made = await readdir(folder)

  // It is not due again: the age is that of the one before.
  const second = await startAlcove(environment)
  await vi.waitUntil(async () => Number(await readMetric(second, 'alcove_backup_age_seconds')) < 100, {
    timeout: 30_000,
  })
  expect(await readMetric(second, 'alcove_backup_bytes')).toBe('0')
  await second.end()
  expect(await readdir(folder)).toEqual(made)

  const third = await startAlcove({
    ...environment,
    BACKUP_PASSPHRASE: 'another passphrase',
    BACKUP_TARGET: source.dataDir,
  })
  onTestFinished(async () => {
    await third.end()
  })
  await third.printed('the scheduled backup failed')
  expect(third.output()).toContain('holds other files')
  expect(await readMetric(third, 'alcove_backup_failed')).toBe('1')
  expect(await readMetric(third, 'alcove_backup_age_seconds')).toBe('+Inf')
})

test('a scheduled backup that another server makes has not failed', { timeout: 120_000 }, async () => {
  const { environment, admin } = await createEmptyDatabase()
  const { folder, dataDir } = await temporaryPlace()
  const other = await admin.connect()
  onTestFinished(async () => {
    other.release()
    await admin.end()
  })
  await other.query('select pg_advisory_lock($1)', [BACKUP_LOCK])
  const alcove = await startAlcove({ ...environment, DATA_DIR: dataDir, BACKUP_TARGET: folder })
  onTestFinished(async () => {
    await alcove.end()
  })
  await alcove.printed('another server makes the scheduled backup')
  expect(await readMetric(alcove, 'alcove_backup_failed')).toBe('0')
  expect(alcove.output()).not.toContain('the scheduled backup failed')

  const command = await runCommand('backup', folder, { ...environment, DATA_DIR: dataDir })
  expect(command.code).toBe(75)
  expect(command.stderr).toContain('Another backup of this installation is running')
})

test('refuses in one sentence', { timeout: 120_000 }, async () => {
  const { folder, dataDir } = await temporaryPlace()
  const cases: readonly (readonly ['backup' | 'restore', string, Environment, string])[] = [
    ['backup', folder, { DATA_DIR: dataDir }, `DATA_DIR "${dataDir}" holds no Alcove, so there is nothing to back up.`],
    ['restore', folder, { DATA_DIR: dataDir }, `There are no backups of Alcove in "${folder}".`],
    ['backup', 's3://bucket/prefix', { DATA_DIR: dataDir }, 'set BACKUP_S3_ENDPOINT'],
    ['backup', folder, { DATA_DIR: dataDir, BACKUP_PASSPHRASE: 'short' }, 'BACKUP_PASSPHRASE is 5 characters'],
    [
      'backup',
      folder,
      { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x', ALCOVE_SECRET: 'x'.repeat(32) },
      'cannot be connected to',
    ],
  ]
  for (const [name, address, environment, sentence] of cases) {
    const { code, stdout, stderr } = await runCommand(name, address, environment)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
  expect(await readdir(path.dirname(dataDir))).toEqual([])
})
