/**
 * First text of 20 questions a minute while a backup runs, against the same server before and after, and the memory that
 * the backup takes. `backup [gigabytes]`; nine tenths are files, the rest pages of text in the database. Files are made,
 * encrypted and read back on the disk of `TMPDIR`, which holds them twice until the figure is there or has failed.
 */
import { spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { connectToRunning } from '#server/database/embedded.ts'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'
import { startStubModel } from '#test/stub-model.ts'
import { type FirstText, watchFirstText } from './first-text.ts'
import { withoutTriggers } from './growth-rows.ts'
import { median, quantile, rounded } from './measure.ts'
import { anonymousKib, childrenOf, peakKib, residentKib } from './process-memory.ts'
import { type SignedIn, startSignedIn } from './signed-in.ts'

const QUESTION_EVERY_MS = 3_000
/** On the idle server, half of them before and half after. */
const IDLE_QUESTIONS = 40
/** Small backups are repeated until as many questions were asked. */
const LEAST_QUESTIONS = 20
const QUESTIONS_OF_CONVERSATION = 20
const SAMPLE_EVERY_MS = 250

const GIGABYTE = 1_000_000_000
const FILE_BYTES = 4_000_000
const SHARE_OF_FILES = 0.9
const PAGES_OF_FILE = Math.round((FILE_BYTES * (1 - SHARE_OF_FILES)) / SHARE_OF_FILES / 8_000)

/** Documents of random bytes, each with some pages of random words. They count as indexed: nothing reads them in the background. */
async function fill({ dataDir, userId }: SignedIn, bytes: number, signal: AbortSignal): Promise<void> {
  const blobs = createDiskStore(dataDir)
  const { databasePassword } = await loadSecretsFromFolder(dataDir)
  const admin = new pg.Client(await connectToRunning(dataDir, databasePassword))
  await admin.connect()
  try {
    const content = Buffer.alloc(FILE_BYTES)
    await withoutTriggers(admin, async () => {
      for (let made = 0; made < bytes * SHARE_OF_FILES; made += FILE_BYTES) {
        signal.throwIfAborted()
        const { id } = await blobs.put(Readable.from([randomFillSync(content)]))
        await admin.query(
          `with added as (
             insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done, parsed_at, series, library)
             select $1::uuid, $2::uuid, $1::text || '.pdf', $1::text || '.pdf', 'application/pdf', $3, $1::text, $1::text, 'ready', $4, $4, now(), $1::uuid, $2::uuid returning id, owner, filename
           ), indexed as (
             insert into document_index (document_id, owner, tokenizer, language, filename, passages, length, segment, first_passage)
             select id, owner, $5, 'english', filename, 0, 0, null, 0 from added
           )
           insert into document_pages (document_id, owner, page, text)
           select id, owner, page, (select string_agg(md5(random()::text || page || word), ' ') from generate_series(1, 240) word)
           from added, generate_series(1, $4) page`,
          [id, userId, FILE_BYTES, PAGES_OF_FILE, TOKENIZER_VERSION],
        )
      }
    })
    await admin.query('checkpoint')
  } finally {
    await admin.end()
  }
}

interface BackupSummary {
  readonly bytes: number
  readonly seconds: number
}

/** Like `npm run -s backup`. */
function startBackup(dataDir: string, place: string, signal: AbortSignal) {
  const child = spawn(process.execPath, ['--max-semi-space-size=2', 'scripts/backup.ts', place], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      PATH: process.env['PATH'] ?? '',
      DATA_DIR: dataDir,
      BACKUP_PASSPHRASE: 'a passphrase of several words',
      NODE_COMPILE_CACHE: 'node_modules/.cache/alcove',
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '131072',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  signal.addEventListener('abort', () => child.kill())
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(([output, errors]) => {
    if (child.exitCode !== 0) throw new Error(errors)
    return JSON.parse(output) as BackupSummary
  })
  return { pid: child.pid ?? 0, ended }
}

/** Memory of the server and of PostgreSQL, whose shared buffers do not count. */
async function readServing(pid: number): Promise<number> {
  let kib = await residentKib(pid)
  for (const postgres of await childrenOf(pid)) kib += await anonymousKib(postgres)
  return kib
}

export async function run([gigabytes = '0.5']: string[]): Promise<Record<string, unknown>> {
  // Asked to end, it removes what it made.
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
  const stub = await startStubModel({ models: 'stub' })
  try {
    const session = await startSignedIn({ OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl, RATE_LIMITS: 'off' })
    try {
      return await measure(session, Number(gigabytes), interruption.signal)
    } finally {
      // Its folder holds the backups too.
      await session.close()
    }
  } finally {
    await stub.stop()
  }
}

/** Runs tasks together. The others end when one fails, and all have ended when the result is there. */
async function together<T extends readonly unknown[]>(
  signal: AbortSignal,
  start: (signal: AbortSignal) => { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const ending = new AbortController()
  const tasks = start(AbortSignal.any([signal, ending.signal]))
  try {
    return await Promise.all(tasks)
  } finally {
    ending.abort()
    await Promise.allSettled(tasks)
  }
}

/** @returns the highest sum of `readServing` */
async function watchServing(pid: number, isDue: () => boolean, signal: AbortSignal): Promise<number> {
  let peak = 0
  while (isDue()) {
    signal.throwIfAborted()
    peak = Math.max(peak, await readServing(pid))
    await delay(SAMPLE_EVERY_MS)
  }
  return peak
}

async function measure(
  session: SignedIn,
  gigabytes: number,
  interruption: AbortSignal,
): Promise<Record<string, unknown>> {
  const { dataDir, alcove } = session
  const place = path.join(path.dirname(dataDir), 'backups')
  await fill(session, gigabytes * GIGABYTE, interruption)
  const chat = await watchFirstText(session)

  const idle: number[] = []
  const isBefore = () => idle.length < IDLE_QUESTIONS / 2
  const [idlePeak] = await together(interruption, (signal) => [
    watchServing(alcove.pid, isBefore, signal),
    askEvery(chat, isBefore, { times: idle, signal }),
  ])

  let [commandPeak, seconds, bytes, backups] = [0, 0, 0, 0]
  let isRunning = true
  const meanwhile: number[] = []
  async function backUpRepeatedly(signal: AbortSignal): Promise<void> {
    do {
      signal.throwIfAborted()
      await rm(place, { recursive: true, force: true })
      const backup = startBackup(dataDir, place, signal)
      let summary: BackupSummary | undefined
      while (summary === undefined) {
        commandPeak = Math.max(commandPeak, await peakKib(backup.pid).catch(() => 0))
        summary = await Promise.race([backup.ended, delay(SAMPLE_EVERY_MS, undefined)])
      }
      seconds += summary.seconds
      bytes = summary.bytes
      backups += 1
    } while (meanwhile.length < LEAST_QUESTIONS)
    isRunning = false
  }
  const [servingPeak] = await together(interruption, (signal) => [
    watchServing(alcove.pid, () => isRunning, signal),
    askEvery(chat, () => isRunning, { times: meanwhile, signal }),
    backUpRepeatedly(signal),
  ])
  await rm(place, { recursive: true, force: true })
  await askEvery(chat, () => idle.length < IDLE_QUESTIONS, { times: idle, signal: interruption })

  const megabytes = (kib: number) => rounded((kib * 1024) / 1_000_000, 0)
  const [p95, idleP95] = [quantile(meanwhile, 0.95), quantile(idle, 0.95)]
  return {
    gigabytes: rounded(bytes / GIGABYTE),
    backups,
    secondsOfBackup: rounded(seconds / backups, 1),
    questions: meanwhile.length,
    p50Ms: rounded(median(meanwhile)),
    p95Ms: rounded(p95),
    idleP50Ms: rounded(median(idle)),
    idleP95Ms: rounded(idleP95),
    p50Ratio: rounded(median(meanwhile) / median(idle)),
    p95Ratio: rounded(p95 / idleP95),
    goalRatio: 1.5,
    commandMb: megabytes(commandPeak),
    servingGrownMb: megabytes(servingPeak - idlePeak),
    extraMb: megabytes(commandPeak + servingPeak - idlePeak),
    goalMb: 150,
  }
}

interface Asking {
  /** Added to. */
  readonly times: number[]
  readonly signal: AbortSignal
}

/** Asks at a fixed pace, whatever an answer takes. */
async function askEvery(chat: FirstText, isDue: () => boolean, { times, signal }: Asking): Promise<void> {
  for (let since = 0; isDue(); since += 1) {
    signal.throwIfAborted()
    const startedAt = performance.now()
    if (since % QUESTIONS_OF_CONVERSATION === 0) {
      await chat.startOver()
      // The first question of a conversation also creates its title.
      await chat.ask()
    }
    times.push(await chat.ask())
    await delay(Math.max(0, QUESTION_EVERY_MS - (performance.now() - startedAt)))
  }
}
