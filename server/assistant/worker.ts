/** The loop that keeps claiming questions, renews the leases of those it answers, and hands them back when it is told to stop. */
import { type Log } from '#server/base/log.ts'
import { STOP_CHANNEL } from '#server/conversations/reply-queries.ts'
import { type Listener } from '#server/database/listen.ts'
import { answer, type Interruption, type ReplyDependencies } from './reply.ts'
import { type ClaimedReply, LEASE_S } from './replies.ts'

const SWEEP_MS = 2_000
const RENEW_MS = 2_000

interface Running {
  readonly reply: ClaimedReply
  readonly abort: (reason: Interruption) => void
  readonly done: Promise<void>
  renewedAt: number
}

interface WorkerOptions extends ReplyDependencies {
  readonly listener: Listener
  readonly log: Log
  /** How many answers this process writes at once. */
  readonly capacity: number
}

export interface Worker {
  /** Number of answers that are being written. */
  running(): number
  /** Claims no more, hands running replies back to the queue, resolves when nothing is written any longer. */
  stop(): Promise<void>
}

export async function startWorker({ listener, capacity, ...dependencies }: WorkerOptions): Promise<Worker> {
  const { replies, log } = dependencies
  const running = new Map<string, Running>()
  let isStopping = false
  let claiming: Promise<void> | undefined
  let wakes = 0

  function start(reply: ClaimedReply): void {
    const controller = new AbortController()
    const done = answer(reply, controller.signal, dependencies)
      .catch((error: unknown) =>
        log.error({ err: error, reply: reply.id }, 'an answer could not be stored; its lease will run out'),
      )
      .finally(() => {
        running.delete(reply.id)
        wake()
      })
    running.set(reply.id, { reply, done, abort: (reason) => controller.abort(reason), renewedAt: performance.now() })
  }

  async function claim(): Promise<void> {
    for (let answered = -1; answered !== wakes;) {
      answered = wakes
      const free = capacity - running.size
      if (free <= 0 || isStopping) return
      for (const reply of await replies.claim(free)) start(reply)
    }
  }

  function wake(): void {
    wakes += 1
    claiming ??= claim()
      .catch((error: unknown) => log.warn({ err: error }, 'the queue of questions cannot be read'))
      .finally(() => (claiming = undefined))
  }

  async function renew(): Promise<void> {
    if (running.size === 0) return
    const mine = [...running.values()]
    const startedAt = performance.now()
    try {
      const kept = await replies.renew(mine.map(({ reply }) => reply))
      for (const entry of mine) {
        if (kept.has(entry.reply.id)) entry.renewedAt = startedAt
        else entry.abort('lost')
      }
    } catch (error) {
      log.warn({ err: error }, 'leases could not be renewed')
      for (const entry of mine) if (performance.now() - entry.renewedAt > LEASE_S * 1000) entry.abort('lost')
    }
  }

  const stopListening = [
    await listener.on('replies', wake),
    await listener.on(STOP_CHANNEL, (id) => running.get(id)?.abort('stopped')),
  ]
  listener.onReconnect(wake)
  const sweep = setInterval(wake, SWEEP_MS)
  const renewal = setInterval(() => void renew(), RENEW_MS)
  wake()

  return {
    running: () => running.size,
    async stop() {
      isStopping = true
      clearInterval(sweep)
      clearInterval(renewal)
      for (const end of stopListening) end()
      await claiming
      const left = [...running.values()]
      for (const entry of left) entry.abort('shutdown')
      await Promise.all(left.map(({ done }) => done))
      if (left.length > 0) await replies.release(left.map(({ reply }) => reply))
    },
  }
}
