/**
 * First reads do not wait for the live channel, which never delivers rows written earlier. They follow a moment that
 * the server names; once changes arrive, the page asks what changed since then, and reads nothing twice.
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

/** Changes since the first reads; null if they are not known. */
export async function readMissedChanges(): Promise<ChangesSince | null> {
  const since = await moment
  if (since == null) return null
  const changes = await apiJson(`/api/changes?since=${encodeURIComponent(since)}`, changesSince)
  return changes.is_complete ? changes : null
}

export function forgetMoment(): void {
  moment = undefined
}
