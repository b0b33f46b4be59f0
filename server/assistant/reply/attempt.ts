import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import { limitToLibraries } from '#server/conversations/question-libraries.ts'
import type { Scope } from '#server/database/scope.ts'
import type { Interruptions, ReplyDependencies } from './dependencies.ts'
import type { ReplyWriter } from './reply-log.ts'
import { startStopwatch, type Stopwatch } from './stopwatch.ts'

export interface Attempt {
  readonly reply: ClaimedReply
  readonly writer: ReplyWriter
  readonly stopwatch: Stopwatch
  readonly abandoned: AbortSignal
  /** Aborts with `abandoned`, when the person stops the reply, and once the attempt is closed. */
  readonly signal: AbortSignal
  readonly lose: () => void
  readonly isLost: () => boolean
  /** Runs as the person who asked, within the libraries that the question may use and the limit of concurrent reads. */
  readonly read: <T>(run: (scope: Scope) => Promise<T>, settings?: Readonly<Record<string, string>>) => Promise<T>
  readonly takePriority: () => void
  readonly releasePriority: () => void
  readonly onClose: (close: () => Promise<void>) => void
  readonly close: () => Promise<void>
}

export function beginAttempt(
  reply: ClaimedReply,
  interruptions: Interruptions,
  { database, limitReads, replyLog, backgroundThrottle, log }: ReplyDependencies,
): Attempt {
  const [lost, closed] = [new AbortController(), new AbortController()]
  const lose = () => lost.abort()
  const abandoned = AbortSignal.any([interruptions.abandoned, lost.signal])
  const closers: (() => Promise<void>)[] = []
  let releasePriority = backgroundThrottle?.beginForeground()
  const writer = replyLog.open(reply, () => {
    log.info({ reply: reply.id }, 'a newer attempt has taken over the reply')
    lose()
  })
  return {
    reply,
    writer,
    stopwatch: startStopwatch(),
    abandoned,
    signal: AbortSignal.any([interruptions.stopped, abandoned, closed.signal]),
    lose,
    isLost: () => lost.signal.aborted,
    read(run, settings = {}) {
      const owner = { sub: reply.owner, role: 'authenticated' } as const
      const readWithin = async (scope: Scope) => {
        // Statements of one connection run in order, so that this one needs no round trip of its own.
        const limited = limitToLibraries(scope, reply)
        const [found] = await Promise.all([run(scope), limited])
        return found
      }
      return limitReads(() => database.asUser(owner, readWithin, { readOnly: true, settings }), reply.owner)
    },
    takePriority: () => (releasePriority = backgroundThrottle?.beginForeground()),
    releasePriority: () => releasePriority?.(),
    onClose: (close) => closers.push(close),
    async close() {
      releasePriority?.()
      writer.close()
      try {
        for (const close of closers) await close()
      } finally {
        // Node keeps a combined signal with listeners until it aborts, and with it all that the listeners can reach.
        closed.abort()
      }
    },
  }
}
