/**
 * First reads do not wait for the live channel, which never delivers rows written earlier. They follow a moment that
 * the server names; once changes arrive, the page asks what changed since then, and reads nothing twice.
 * A page without the channel goes on asking, each time since the answer before.
 */
import { changesSince, type ChangesSince } from '#contract/changes.ts'
import { apiJson } from '#web/data/client.ts'

/** Longest that first reads wait for the moment: without it they are repeated, so a busy server has time to answer. */
const MAX_WAIT_MS = 3_000

/** Null where the server named none in time. */
let moment: Promise<string | null> | undefined

/** Resolves before rows may be read. @throws the signal's reason if it was aborted meanwhile */
export async function untilMomentKnown(signal?: AbortSignal): Promise<void> {
  moment ??= readMoment()
  await moment
  signal?.throwIfAborted()
}

async function readMoment(): Promise<string | null> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, MAX_WAIT_MS, null))
  const named = apiJson('/api/changes', changesSince).then(
    (answer) => answer.moment,
    (error: unknown) => {
      console.error('Changes cannot be told apart from the first reads', error)
      return null
    },
  )
  return Promise.race([named, late])
}

interface MissedChanges {
  /** Null if they are not known. */
  readonly changes: ChangesSince | null
  /** Lets the next question follow this answer; to be called when the changes are applied. */
  readonly accept: () => void
}

/** Changes since the first reads, or since the last answer that was accepted. */
export async function askForChanges(conversationId?: string, signal?: AbortSignal): Promise<MissedChanges> {
  const asked = moment
  const since = await asked
  const query = [
    ...(since == null ? [] : [`since=${encodeURIComponent(since)}`]),
    ...(conversationId === undefined ? [] : [`conversation=${conversationId}`]),
  ].join('&')
  const answer = await apiJson(`/api/changes${query && `?${query}`}`, changesSince, { signal: signal ?? null })
  return {
    changes: since != null && answer.is_complete ? answer : null,
    accept: () => {
      // Otherwise the page has been left, or another answer was accepted.
      if (moment === asked) moment = Promise.resolve(answer.moment)
    },
  }
}

/** As `askForChanges`, accepted. */
export async function readMissedChanges(): Promise<ChangesSince | null> {
  const { changes, accept } = await askForChanges()
  accept()
  return changes
}

export function forgetMoment(): void {
  moment = undefined
}
