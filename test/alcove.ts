/** Runs the complete server as a process, for tests that use it in a browser, call it from outside, or kill it. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { PublicConfig } from '#contract/auth.ts'

export type Environment = Readonly<Record<string, string>>

export interface AlcoveProcess {
  readonly url: string
  readonly pid: number
  output(): string
  /** Resolves when the server prints this text; rejects with its output if it ends first. */
  printed(text: string): Promise<void>
  config(): Promise<PublicConfig>
  /** Resolves with the exit code, null after a signal. */
  end(signal?: NodeJS.Signals): Promise<number | null>
  signal(signal: NodeJS.Signals): void
}

const root = fileURLToPath(new URL('..', import.meta.url))

/** Text of the line that a server prints when it serves. */
export const READY = 'is ready at '

export interface Start {
  /** Checkout whose server starts, instead of this one. */
  readonly checkout?: string
  /** Command that starts the server as its child. */
  readonly under?: readonly string[]
}

/** Starts `server/main.ts` as `npm start` does; rejects with its output if it ends before it is ready. */
export async function startAlcove(environment: Environment, start?: Start): Promise<AlcoveProcess> {
  const child = spawnServer({ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', ...environment }, start)
  let output = ''
  // One emitter for both streams, so that waiting leaves no listener on the silent one.
  const printing = new EventEmitter()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      printing.emit('more')
    })
  }
  const exited = once(child, 'exit')
  const ended = exited.then(() => Promise.reject(new Error(`the server ended before its time:\n${output}`)))
  // Waiters for output receive the error.
  ended.catch(() => undefined)
  async function found(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(output)
      if (match) return match[0]
      await Promise.race([ended, once(printing, 'more')])
    }
  }
  const address = await found(/(?<=is ready at )http:\/\/\S+?(?=[\s,])/)
  const { pid } = child
  if (pid === undefined) throw new Error('the server has no process')
  return {
    url: address,
    pid,
    output: () => output,
    async printed(text) {
      await found(new RegExp(RegExp.escape(text)))
    },
    config: async () => (await (await fetch(`${address}/config.json`)).json()) as PublicConfig,
    signal: (signal) => void child.kill(signal),
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await exited
      }
      return child.exitCode
    },
  }
}

/** Starts a server that is expected to fail: resolves with its exit code and output. */
export async function startRefusing(
  environment: Environment,
  start?: Start,
): Promise<{ code: number | null; output: string }> {
  const child = spawnServer({ HOST: '127.0.0.1', PORT: '0', ...environment }, start)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close')
  return { code: child.exitCode, output }
}

/** Longer than any start of a test takes. */
const KILL_LIMIT_MS = 90_000

/**
 * Kills the server by SIGKILL so long after it has printed this text, or once it is ready: the text may have been passed
 * by an earlier start. PostgreSQL, if it has one, stays behind.
 *
 * @returns its output
 * @throws with the output where neither comes in time
 */
export async function startAndKill(environment: Environment, text: string, afterMs = 0): Promise<string> {
  const child = spawnServer({ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', ...environment })
  let output = ''
  let timer: NodeJS.Timeout | undefined
  const limit = AbortSignal.timeout(KILL_LIMIT_MS)
  limit.addEventListener('abort', () => child.kill('SIGKILL'))
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes(text)) timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs)
      if (output.includes(READY)) child.kill('SIGKILL')
    })
  await once(child, 'close')
  clearTimeout(timer)
  if (limit.aborted) throw new Error(`the server printed neither "${text}" nor that it is ready:\n${output}`)
  return output
}

/** Matches `npm start`: unused buffers are collected before they reach 64 MiB, parsers are those that were built. */
const OPTIONS = ['--max-semi-space-size=8', '--conditions=built-parsers']

function spawnServer(
  environment: Environment,
  { checkout = root, under = [] }: Start = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const [program, ...args] = [...under, process.execPath, ...OPTIONS, 'server/main.ts']
  return spawn(program, args, {
    cwd: checkout,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      NODE_COMPILE_CACHE: 'node_modules/.cache/alcove',
      // As `npm start` does: otherwise glibc keeps large freed blocks, once there were any, for reuse.
      MALLOC_MMAP_THRESHOLD_: '131072',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Creates a data folder that PostgreSQL's own user can reach if the tests run as root. */
export async function createDataDir(): Promise<{ dataDir: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(path.join(tmpdir(), 'alcove-data-'))
  await chmod(parent, 0o711)
  return { dataDir: path.join(parent, 'data'), remove: () => rm(parent, { recursive: true, force: true }) }
}
