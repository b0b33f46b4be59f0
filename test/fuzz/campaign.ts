/** Attacks one server with many cases at a time, while an honest person goes on working, and sums up what happened. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { AlcoveProcess } from '#test/alcove.ts'
import { type Neighbours, type Service, validRequests } from './corpus.ts'
import { sendRequest, sendUnread } from './http-client.ts'
import { createJudge, type Fault } from './judge.ts'
import { type Credentials, mutate, unchanged } from './mutate.ts'
import { call, type Installation, leave, openSession, signUpPerson } from './people.ts'
import { createRandom } from './random.ts'
import { transmit, transmitRightly } from './transmission.ts'
import { fuzzSocket } from './websocket.ts'

/** A statement of `/rest/v1` may take 8 s, and wait for others on a busy machine. */
const ANSWER_LIMIT_MS = 60_000
/** An attacker made an honest person wait for several of the limits of 8 s. The bench `neighbours` measures the speed. */
const HONEST_LIMIT_MS = 30_000
const CASES_PER_ATTACKER = [60, 300]
const SESSIONS_PER_ATTACKER = 3
const SOCKET_SHARE = 0.12
const UNREAD_SHARE = 0.04
/** Answers left unread at a time. */
const MAX_UNREAD = 100
const SETTLE_POLL_MS = 500
/** At the end. The server returns memory once it is quiet, which it is not while it only collects. */
const POLLS_PER_COLLECTION = 20
const IDLE_POLLS = 10

export interface Campaign {
  readonly alcove: AlcoveProcess
  readonly dataDir: string
  readonly neighbours: Neighbours
  readonly lanes: number
}

export interface Effort {
  readonly seed: number
  /** Cases of each lane, or as many as fit into a time. */
  readonly cases: number
  readonly untilMs: number
}

export interface Summary {
  readonly faults: readonly Fault[]
  /** Requests by service and status class; `closed` without an answer, `socket` for connections that opened. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly slowest: readonly string[]
  readonly honest: { readonly requests: number; readonly p95Ms: number; readonly longestMs: number }
  readonly memoryMb: { readonly idle: number; readonly peak: number; readonly end: number }
}

/** Resident memory of a process in MB, now or at its highest. */
async function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const kib = new RegExp(`${field}:\\s+(\\d+)`).exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round((Number(kib) * 1024) / 1e6)
}

interface Settling {
  readonly polls: number
  readonly pollsPerCollection?: number
  readonly enoughMb?: number
}

/** The lowest of several readings, meanwhile with collections of garbage. */
async function settledMb(
  alcove: AlcoveProcess,
  { polls, pollsPerCollection = 1, enoughMb = 0 }: Settling,
): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY
  for (let poll = 0; poll < polls && lowest > enoughMb; poll += 1) {
    if (poll % pollsPerCollection === 0) alcove.signal('SIGUSR2')
    await delay(SETTLE_POLL_MS)
    lowest = Math.min(lowest, await memoryMb(alcove.pid, 'VmRSS'))
  }
  return lowest
}

/** Keys and passwords of the installation, without the public half of its signing key. */
async function readSecrets(dataDir: string, { url }: Installation): Promise<string[]> {
  const published = await (await fetch(`${url}/auth/v1/.well-known/jwks.json`)).text()
  const stored: unknown = JSON.parse(await readFile(path.join(dataDir, 'secrets.json'), 'utf8'))
  const texts = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [] // prettier-ignore
  return texts(stored).filter((text) => text.length >= 20 && !published.includes(text))
}

interface Tally {
  readonly requests: Record<string, Record<string, number>>
  readonly slowest: { readonly tookMs: number; readonly what: string }[]
  readonly honestMs: number[]
}

const MAX_SLOWEST = 5
/** Half of the life of a token. */
const SESSION_MS = 1_800_000

function count({ requests, slowest }: Tally, kind: Service | 'socket', status: number | undefined, tookMs: number, what: string): void {
  const ofKind = (requests[kind] ??= {})
  const result = status === undefined ? 'closed' : status === 101 ? 'open' : `${Math.floor(status / 100)}xx`
  ofKind[result] = (ofKind[result] ?? 0) + 1
  slowest.push({ tookMs, what })
  slowest.sort((a, b) => b.tookMs - a.tookMs).splice(MAX_SLOWEST)
} // prettier-ignore

type Run = Awaited<ReturnType<typeof openCampaign>>

async function openCampaign({ alcove, dataDir, neighbours, lanes }: Campaign) {
  const port = Number(new URL(alcove.url).port)
  const config = z.object({ supabaseAnonKey: z.string() }).parse(await alcove.config())
  const installation: Installation = { url: alcove.url, apikey: config.supabaseAnonKey }
  const secret = `amethyst-${randomUUID()}`
  const honest = await signUpPerson(installation, secret)
  const victimIds = [honest.id, honest.conversationId, honest.messageId, honest.documentId]
  const judge = createJudge([secret, honest.token, honest.refreshToken, ...(await readSecrets(dataDir, installation))])
  const tally: Tally = { requests: {}, slowest: [], honestMs: [] }
  const unread: Socket[] = []
  let readOutput = 0
  let isOver = false

  /** Opens several sessions of one person. */
  async function newCredentials(): Promise<[Credentials, ...Credentials[]]> {
    const { apikey } = installation
    const attacker = await signUpPerson(installation, 'Where is the lamp?')
    const sessions: [Credentials, ...Credentials[]] = [{ attacker, apikey, victimIds }]
    while (sessions.length < SESSIONS_PER_ATTACKER)
      sessions.push({ attacker: await openSession(installation, attacker), apikey, victimIds })
    return sessions
  }

  function leaveUnread(socket: Socket): void {
    unread.push(socket)
    if (unread.length > MAX_UNREAD) unread.shift()?.destroy()
  }

  /** Judges the lines that the server has completed since the last call. */
  function judgeOutput(): void {
    const output = alcove.output().slice(readOutput)
    const complete = output.slice(0, output.lastIndexOf('\n') + 1)
    readOutput += complete.length
    judge.judgeOutput(complete)
  }

  async function runCase(shownBy: string, seed: number, credentials: Credentials): Promise<void> {
    const random = createRandom(seed)
    if (random.chance(SOCKET_SHARE)) {
      const answer = await fuzzSocket(port, random, credentials, ANSWER_LIMIT_MS)
      count(tally, 'socket', answer.status, answer.tookMs, `socket ${shownBy}`)
      if (answer.isMissing) judge.note(shownBy, 'a socket without an answer')
      judge.judgeAnswer(shownBy, 'socket', answer)
      return
    }
    const { message, service } = mutate(random, validRequests(credentials.attacker, neighbours), credentials)
    if (random.chance(UNREAD_SHARE)) return leaveUnread(sendUnread(port, transmitRightly(message)))
    const transmission = transmit(random, message)
    const answer = await sendRequest(port, transmission, ANSWER_LIMIT_MS)
    const request = Buffer.concat(transmission.chunks).toString('latin1')
    const line = `${message.method} ${message.target.slice(0, 100)} ${shownBy}`
    count(tally, service, answer.status, transmission.isComplete ? answer.tookMs : 0, line)
    if (answer.isMissing) judge.note(shownBy, `no answer within ${ANSWER_LIMIT_MS / 1000} s\n${request.slice(0, 700)}`)
    judge.judgeAnswer(shownBy, request, answer)
  }

  async function runLane(lane: number, { seed, cases, untilMs }: Effort): Promise<void> {
    const random = createRandom(seed * 1_000_003 + lane)
    let sessions = await newCredentials()
    let left = random.pick(CASES_PER_ATTACKER)
    for (let index = 0; index < cases && performance.now() < untilMs && !isOver; index += 1) {
      if (left === 0) {
        await leave(installation, sessions[0].attacker)
        sessions = await newCredentials()
        left = random.pick(CASES_PER_ATTACKER)
      }
      left -= 1
      const caseSeed = seed * 1_000_003 + lane * 100_000_007 + index
      await runCase(`${seed}/${lane}/${index}`, caseSeed, random.pick(sessions))
    }
    await leave(installation, sessions[0].attacker)
  }

  /** Lists, asks and reads, as the page does. */
  async function workHonestly(): Promise<void> {
    const { conversationId, documentId } = honest
    let { token } = honest
    let renewAtMs = performance.now() + SESSION_MS
    const steps: (readonly [method: string, path: string, body?: unknown])[] = [
      ['GET', '/api/documents'],
      ['GET', `/rest/v1/messages?conversation_id=eq.${conversationId}&limit=20`],
      ['POST', `/api/conversations/${conversationId}/messages`, { content: 'And now?' }],
      ['GET', `/api/documents/${documentId}`],
      ['GET', '/auth/v1/user'],
    ]
    for (let at = 0; !isOver; at = (at + 1) % steps.length) {
      if (performance.now() > renewAtMs) {
        token = (await openSession(installation, honest)).token
        renewAtMs += SESSION_MS
      }
      const [method, target, body] = steps[at] ?? ['GET', '/healthz']
      const startedAt = performance.now()
      try {
        await call(installation, method, target, { token, body })
        const tookMs = performance.now() - startedAt
        tally.honestMs.push(tookMs)
        if (tookMs > HONEST_LIMIT_MS) judge.note('honest person', `${target} took ${Math.round(tookMs)} ms`)
      } catch (error) {
        judge.note('honest person', String(error))
        if (!isAlive(alcove.pid)) return
      }
      await delay(150)
    }
  }

  async function warmUp(): Promise<number> {
    const [credentials] = await newCredentials()
    for (const request of validRequests(credentials.attacker, neighbours)) {
      const transmission = transmitRightly(unchanged(request, credentials).message)
      const answer = await sendRequest(port, transmission, ANSWER_LIMIT_MS)
      const label = `${request.method} ${request.route}`
      if (answer.status === undefined) judge.note('warm-up', `${label} has no answer`)
      judge.judgeAnswer('warm-up', label, answer)
    }
    await leave(installation, credentials.attacker)
    return settledMb(alcove, { polls: IDLE_POLLS })
  }

  return {
    alcove,
    tally,
    judge,
    judgeOutput,
    runLane,
    workHonestly,
    warmUp,
    lanes,
    end: () => {
      isOver = true
      for (const socket of unread) socket.destroy()
    },
    isOver: () => isOver,
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const WATCH_MS = 1_000

/** Ends the campaign when the server has ended, and judges its log meanwhile. */
async function watch({ alcove, judge, judgeOutput, isOver, end }: Run): Promise<void> {
  while (!isOver()) {
    await delay(WATCH_MS)
    judgeOutput()
    if (isAlive(alcove.pid)) continue
    judge.note('server', `it ended:\n${alcove.output().slice(-4_000)}`)
    end()
  }
}

/** Runs every effort in turn. The memory is compared with that of the server after one valid request of each kind. */
export async function runCampaign(
  campaign: Campaign,
  efforts: readonly Effort[],
  { maxGrowthMb, settlePolls }: { maxGrowthMb: number; settlePolls: number },
): Promise<Summary> {
  const run = await openCampaign(campaign)
  const { alcove, tally, judge } = run
  const idle = await run.warmUp()
  const honest = run.workHonestly()
  const watching = watch(run)
  try {
    for (const effort of efforts)
      await Promise.all(Array.from({ length: run.lanes }, (_, lane) => run.runLane(lane, effort)))
  } catch (error) {
    judge.note('attackers', String(error))
  }
  run.end()
  await Promise.all([honest, watching])
  run.judgeOutput()
  const isRunning = isAlive(alcove.pid)
  const peak = isRunning ? await memoryMb(alcove.pid, 'VmHWM') : 0
  const settling = { polls: settlePolls, pollsPerCollection: POLLS_PER_COLLECTION, enoughMb: idle + maxGrowthMb }
  const end = isRunning ? await settledMb(alcove, settling) : 0
  if (end > idle + maxGrowthMb) judge.note('memory', `${end} MB at the end, ${idle} MB when idle`)
  const sorted = tally.honestMs.toSorted((a, b) => a - b)
  return {
    faults: judge.faults,
    requests: tally.requests,
    slowest: tally.slowest.map(({ tookMs, what }) => `${Math.round(tookMs)} ms: ${what}`),
    honest: {
      requests: sorted.length,
      p95Ms: Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? 0),
      longestMs: Math.round(sorted.at(-1) ?? 0),
    },
    memoryMb: { idle, peak, end },
  }
}
