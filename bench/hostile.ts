/**
 * Uploads hostile files at once and reports how each ends, the slowest, the peak memory of a parser process, and the
 * server's query latency against idle. `hostile [folder]`: the files of its `manifest.json`, or those of test/make-
 * hostile.ts.
 */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { PARSE_LIMITS } from '#server/parsing/sandbox/limits.ts'
import { hostileManifest, readManifest } from '#test/expected-texts.ts'
import { type Ending, HOSTILE_FILES } from '#test/make-hostile.ts'
import { compared, quantile, rounded } from './measure.ts'
import { type Client, startSignedIn } from './signed-in.ts'
import { watchLibrary } from './watched-library.ts'

const PAUSE_MS = 20
const IDLE_QUERIES = 300
const MEMORY_INTERVAL_MS = 50

interface HostileBytes {
  readonly file: string
  readonly expect: Ending
  readonly bytes: Uint8Array<ArrayBuffer>
}

async function filesOf(folder: string | undefined): Promise<HostileBytes[]> {
  if (folder === undefined)
    return HOSTILE_FILES.map(({ file, expect, make }) => ({ file, expect, bytes: new Uint8Array(make()) }))
  return Promise.all(
    readManifest(path.dirname(folder), `${path.basename(folder)}/manifest.json`, hostileManifest).map(
      async ({ file, expect }) => ({ file, expect, bytes: new Uint8Array(await readFile(path.join(folder, file))) }),
    ),
  )
}

async function query(client: Client): Promise<number> {
  const startedAt = performance.now()
  const { error } = await client.from('documents').select('id, filename, state, pages_done').limit(20)
  if (error) throw error
  return performance.now() - startedAt
}

async function queryUntil(client: Client, isEnough: (asked: number) => boolean): Promise<number[]> {
  const times: number[] = []
  while (!isEnough(times.length)) {
    times.push(await query(client))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return times
}

/**
 * Peak memory of any parser process, in bytes (proc(5), VmHWM). Scans every process once and then only children,
 * because timed queries run at the same time.
 */
function watchReaders(parent: number): { readonly stop: () => number } {
  let most = 0
  let known = new Map<string, { isChild: boolean; isReader: boolean }>()
  const read = (pid: string, file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
  const look = async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    known = new Map(pids.map((pid) => [pid, known.get(pid) ?? { isChild: true, isReader: false }]))
    for (const [pid, process] of known) {
      if (!process.isChild) continue
      const status = await read(pid, 'status')
      process.isChild = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) === parent
      // A parser process first runs the code that ties it to the server.
      process.isReader ||= process.isChild && (await read(pid, 'cmdline')).includes('/parser-main.')
      if (process.isReader) most = Math.max(most, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024)
    }
  }
  const timer = setInterval(() => void look(), MEMORY_INTERVAL_MS)
  return {
    stop() {
      clearInterval(timer)
      return most
    },
  }
}

export async function run([folder]: string[]): Promise<Record<string, unknown>> {
  const files = await filesOf(folder)
  const session = await startSignedIn()
  const client = await session.open()
  const startedAt = new Map<string, number>()
  const library = await watchLibrary(session, await session.open(), ({ id, state }) => {
    if (state === 'reading' && !startedAt.has(id)) startedAt.set(id, performance.now())
  })
  const memory = watchReaders(session.alcove.pid)
  await queryUntil(client, (asked) => asked === 20)
  const idle = await queryUntil(client, (asked) => asked === IDLE_QUERIES)

  const endings: { file: string; expect: Ending; ended: Ending; why: string; ms: number }[] = []
  let isOver = false
  const reading = Promise.all(
    files.map(async ({ file, expect, bytes }) => {
      const { documents } = await library.upload([{ name: file, bytes }])
      const [document] = documents
      if (!document) return endings.push({ file, expect, ended: 'rejected at upload', why: 'rejected', ms: 0 })
      const { state, error } = await library.ended(document.id)
      const ms = performance.now() - (startedAt.get(document.id) ?? performance.now())
      const ended = state === 'ready' ? 'accepted' : 'fails with a reason'
      return endings.push({ file, expect, ended, why: error?.code ?? 'read', ms })
    }),
  ).finally(() => (isOver = true))
  const meanwhile = await queryUntil(client, () => isOver)
  await reading
  const memoryBytes = memory.stop()
  await session.close()
  const megabytes = (bytes: number) => rounded(bytes / 1024 / 1024, 0)
  const slowest = endings.toSorted((one, other) => other.ms - one.ms)[0]
  return {
    files: endings.length,
    otherwise: endings
      .filter(({ expect, ended }) => ended !== expect)
      .map(({ file, expect, ended, why }) => `${file}: ${ended} (${why}), expected: ${expect}`),
    slowest: slowest && `${slowest.file}: ${rounded(slowest.ms / 1000, 1)} s`,
    memoryMb: megabytes(memoryBytes),
    memoryLimitMb: megabytes(PARSE_LIMITS.residentBytes),
    queries: meanwhile.length,
    ...compared({ ours: meanwhile, baseline: idle }),
    p95Ratio: rounded(quantile(meanwhile, 0.95) / quantile(idle, 0.95)),
  }
}
