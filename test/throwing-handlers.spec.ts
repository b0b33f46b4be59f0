/**
 * Errors that listeners and timers throw, wherever the server or one of its libraries has added one: each ends its own
 * request, socket, connection or process, and others are answered. A seed chooses a few of each mechanism in `npm test`;
 * `THROWING_HANDLERS=all` tries every one.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { type AlcoveProcess, type Environment, startAlcove } from './alcove.ts'
import { startFakeS3 } from './fake-s3.ts'
import { call, type Installation, signUpPerson } from './fuzz/people.ts'
import { createRandom } from './fuzz/random.ts'
import { copyStartedDataDir } from './started-data.ts'
import { startStubModel } from './stub-model.ts'
import { startToolServer } from './tool-server.ts'

const TRIES_ALL = process.env['THROWING_HANDLERS'] === 'all'
const SEED = Number(process.env['FUZZ_SEED'] ?? 27)
/** Parts of the names of listeners and timers: what brings events into the server. */
const MECHANISMS = [
  'pg',
  'ws',
  'server/parsing',
  'server/providers/http-client.ts',
  'server/realtime/sockets.ts',
  '@smithy',
  '@modelcontextprotocol/sdk',
  'setInterval',
]
/** Different ones: some listeners are called only once in a while, as when a parser process is replaced. */
const TRIES_PER_MECHANISM = 3
/** Work that waits longer hangs. */
const ANSWER_MS = 60_000
/** A background task that was ended runs again meanwhile. */
const REPAIR_MS = 40_000
/** Answers of the load that are still open then are not awaited. A parser process takes seconds on a busy machine. */
const QUIET_MS = 12_000
const MODEL = 'openai-compatible/stub-gpt'

const identified = z.object({ id: z.string() })
const uploaded = z.object({ documents: z.array(identified).min(1) })

interface Handlers {
  /** All listeners and timers that the server has called so far. */
  list(): Promise<string[]>
  arm(name: string, message: string): Promise<unknown>
  disarm(): Promise<unknown>
  /** Throws where no unit of work is known. */
  throwOutside(): Promise<unknown>
  /** Settles when the armed one has thrown. */
  thrown(): Promise<unknown>
}

async function connectHandlers(address: string): Promise<Handlers> {
  const socket = connect(address)
  await once(socket, 'connect')
  const lines: Interface = createInterface({ input: socket })
  onTestFinished(() => void socket.destroy())
  let throws = Promise.withResolvers<undefined>()
  const answers: ((line: string) => void)[] = []
  lines.on('line', (line) => (line === 'thrown' ? throws.resolve(undefined) : answers.shift()?.(line)))
  const ask = (line: string) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    answers.push(resolve)
    socket.write(`${line}\n`)
    return promise
  }
  return {
    list: async () => z.array(z.string()).parse(JSON.parse(await ask('list'))),
    arm(name, message) {
      throws = Promise.withResolvers<undefined>()
      return ask(`arm\t${name}\t${message}`)
    },
    disarm: () => ask('disarm'),
    throwOutside: () => ask('outside'),
    thrown: () => throws.promise,
  }
}

async function startWithHandlers(environment: Environment): Promise<{ alcove: AlcoveProcess; handlers: Handlers }> {
  const folder = await copyStartedDataDir()
  const sockets = await mkdtemp(path.join(tmpdir(), 'handlers-'))
  const address = path.join(sockets, 'commands')
  const alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    AUTH_AUTOCONFIRM: 'true',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
    THROWING_HANDLERS_SOCKET: address,
    NODE_OPTIONS: `--import ${pathToFileURL(fileURLToPath(new URL('./throwing-handlers.ts', import.meta.url))).href}`,
    ...environment,
  })
  onTestFinished(async () => {
    await alcove.end()
    await folder.remove()
    await rm(sockets, { recursive: true })
  })
  return { alcove, handlers: await connectHandlers(address) }
}

/** Makes a file too large to share a parser process, whose handlers would be called only when it is replaced. */
const FILLING = ' '.repeat(1_100_000)

/** Work of one person that reaches every edge. Each resolves when it has been answered, or its connection has ended. */
function createWork({ url, apikey }: Installation, token: string, toolUrl: string) {
  const asPerson = (method: string, route: string, body?: unknown) =>
    call({ url, apikey }, method, route, { token, body })
  const poll = async (isDone: () => Promise<boolean>, signal: AbortSignal) => {
    while (!signal.aborted && !(await isDone().catch(() => false))) await delay(100)
  }
  const fileOf = (text: string) => {
    const form = new FormData()
    form.append('files', new Blob([text], { type: 'text/plain' }), 'lamp.txt')
    return form
  }
  const countRows = async (route: string) => z.array(z.unknown()).parse(await asPerson('GET', route)).length

  async function ask(content: string, signal: AbortSignal): Promise<void> {
    const { id } = identified.parse(await asPerson('POST', '/api/conversations', { title: 'Lamp', model_name: MODEL }))
    await asPerson('POST', `/api/conversations/${id}/messages`, { content })
    await poll(async () => (await countRows(`/rest/v1/messages?conversation_id=eq.${id}&sender_role=eq.2`)) > 0, signal)
  }

  return {
    read: () => asPerson('GET', '/rest/v1/conversations?select=id'),
    ask: (signal: AbortSignal) => ask('Where is the lamp?', signal),
    searchTheWeb: (signal: AbortSignal) => ask('@search lamp', signal),
    async upload(signal: AbortSignal) {
      const { documents } = uploaded.parse(await asPerson('POST', '/api/documents', fileOf(`A lamp ${randomUUID()}${FILLING}`)))
      const row = `/rest/v1/documents?id=eq.${documents[0]?.id ?? ''}&state=eq.ready`
      await poll(async () => (await countRows(row)) === 1, signal)
    },
    async download() {
      const documents = z.array(identified).parse(await asPerson('GET', '/rest/v1/documents?select=id&limit=1'))
      const address = `${url}/api/documents/${documents[0]?.id ?? ''}/file`
      await (await fetch(address, { headers: { apikey, authorization: `Bearer ${token}` } })).text()
    },
    async connectTools() {
      for (const server of [{ name: 'sums', url: toolUrl }, { name: 'greeter', command: 'greeter' }]) {
        const { id } = identified.parse(await asPerson('POST', '/api/tool-servers', server))
        await asPerson('DELETE', `/api/tool-servers/${id}`)
      }
    },
    async openSocket() {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/realtime/v1/websocket?apikey=${apikey}&vsn=2.0.0`)
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      socket.on('error', () => socket.terminate())
      socket.on('open', () => {
        socket.ping()
        socket.send(JSON.stringify(['1', '1', 'realtime:lamp', 'phx_join', { access_token: token, config: { private: true } }]))
        socket.send(JSON.stringify([null, '2', 'phoenix', 'heartbeat', {}]))
      })
      let answers = 0
      socket.on('message', () => {
        answers += 1
        if (answers === 2) socket.close()
      })
      await closed
    },
  } // prettier-ignore
}

type Work = ReturnType<typeof createWork>

/** @returns the work that failed, and what was neither answered nor ended. */
async function doAll(work: Work, signal: AbortSignal): Promise<{ failed: string[]; hanging: string[] }> {
  const failed: string[] = []
  const hanging: string[] = []
  await Promise.all(
    Object.entries(work).map(async ([name, run]) => {
      const ended = new AbortController()
      const settled = run(signal).then(
        () => undefined,
        () => void failed.push(name),
      )
      const late = delay(ANSWER_MS, undefined, { signal: ended.signal }).then(
        () => void hanging.push(name),
        () => undefined,
      )
      await Promise.race([settled, late])
      ended.abort()
    }),
  )
  return { failed, hanging }
}

function choose(names: readonly string[]): string[] {
  if (TRIES_ALL) return [...names]
  const random = createRandom(SEED)
  return MECHANISMS.flatMap((mechanism) => {
    const waiting = new Set(names.filter((name) => name.includes(mechanism)).sort())
    return Array.from({ length: Math.min(TRIES_PER_MECHANISM, waiting.size) }, () => {
      const chosen = random.pick([...waiting])
      waiting.delete(chosen)
      return chosen
    })
  })
}

/** Lines of the log at `level` or above that hold the text. */
const countLines = (output: string, text: string, level: number): number =>
  output.split('\n').filter((line) => line.includes(text) && Number(/"level":(\d+)/.exec(line)?.[1] ?? 0) >= level)
    .length

test(
  'what a listener or timer throws ends its own unit, is logged, and others are answered',
  { timeout: TRIES_ALL ? 3_600_000 : 600_000, retry: 0 },
  async () => {
    const engine = createServer((_request, response) => void response.end(JSON.stringify({ results: [] })))
    engine.listen(0, '127.0.0.1')
    await once(engine, 'listening')
    onTestFinished(() => void engine.close())
    const port = z.object({ port: z.number() }).parse(engine.address()).port
    const [stub, s3, tools] = await Promise.all([startStubModel({ tokens: 20 }), startFakeS3(), startToolServer()])
    onTestFinished(async () => {
      await Promise.all([stub.stop(), s3.close()])
      tools.stop()
    })
    const { options } = s3
    const { alcove, handlers } = await startWithHandlers({
      ALLOWED_NETWORKS: '127.0.0.1',
      OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
      SEARCH_PROVIDER: 'searxng',
      SEARCH_URL: `http://127.0.0.1:${port}`,
      TOOL_COMMANDS: `greeter=${process.execPath} ${fileURLToPath(new URL('./tool-command.ts', import.meta.url))}`,
      S3_ENDPOINT: options.endpoint,
      S3_BUCKET: options.bucket,
      S3_REGION: options.region,
      S3_ACCESS_KEY: options.accessKey,
      S3_SECRET_KEY: options.secretKey,
    })
    const installation = { url: alcove.url, apikey: (await alcove.config()).supabaseAnonKey }
    const person = await signUpPerson(installation, 'lamp')
    const other = await signUpPerson(installation, 'other lamp')
    const work = createWork(installation, person.token, tools.url)
    expect(await doAll(work, AbortSignal.timeout(ANSWER_MS))).toEqual({ failed: [], hanging: [] })

    const names = choose(await handlers.list())
    const faults: string[] = []
    const thrown: string[] = []
    for (const [index, name] of names.entries()) {
      const mark = `thrown by handler ${SEED}-${index}.`
      const before = alcove.output().length
      const found = (fault: string) => void faults.push(`${name}: ${fault}`)
      const quiet = AbortSignal.timeout(QUIET_MS)
      const repaired = new AbortController()
      await handlers.arm(name, mark)
      const hasThrown = Promise.race([handlers.thrown().then(() => true), once(quiet, 'abort').then(() => false)])
      const done = doAll(work, AbortSignal.any([quiet, repaired.signal]))
      const canary = async () =>
        (await fetch(`${alcove.url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) })).status
      const healths = [canary(), hasThrown.then(canary)]
      const isThrown = await hasThrown
      repaired.abort()
      const { hanging } = await done
      await handlers.disarm()
      for (const one of hanging) found(`${one} hangs`)
      // The canary may itself be the request whose handler threw.
      const answered = (await Promise.allSettled(healths)).filter(({ status }) => status === 'fulfilled').length
      if (answered < healths.length - 1) found('the canary got no answer')
      if (!isThrown) continue
      thrown.push(name)
      const output = alcove.output().slice(before)
      if (countLines(output, mark, 60) > 0) found('the server stopped')
      if (!output.includes(mark)) found('is not logged')
      else if (countLines(output, mark, 50) === 0) found('is not logged as an error')
      if ((await canary()) !== 200) found('the server is not healthy')
      await call(installation, 'GET', '/api/documents', { token: other.token }).catch((error: unknown) =>
        found(`another person is refused: ${String(error)}`),
      )
    }
    console.log(`${thrown.length} of ${names.length} handlers threw:\n${thrown.join('\n')}`)
    expect(faults).toEqual([])
    for (const mechanism of MECHANISMS) expect(thrown.join('\n')).toContain(mechanism)
    // Ended tasks begin again by themselves.
    await expect
      .poll(() => doAll(work, AbortSignal.timeout(ANSWER_MS)), { timeout: REPAIR_MS })
      .toEqual({ failed: [], hanging: [] })
  },
)

test('an error that belongs to nothing drains the server, which ends with a code', { retry: 0 }, async () => {
  const { alcove, handlers } = await startWithHandlers({})
  await handlers.throwOutside()
  await alcove.printed('belongs to nothing; the server stops')
  expect(await alcove.end()).toBe(1)
})
