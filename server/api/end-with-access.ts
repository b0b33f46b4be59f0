import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { AccessWatch } from '#server/access/access-watch.ts'
import type { SignedIn } from '#server/access/authenticate.ts'

/** Breaks off the response to this request once the person may no longer read what it sends. */
export function endWithAccess(
  context: Context<SignedIn>,
  accessWatch: AccessWatch,
  isAllowed: () => Promise<boolean>,
): void {
  const { outgoing } = context.env as Partial<HttpBindings>
  if (!outgoing || outgoing.destroyed) return
  const { sub, session_id: sessionId } = context.get('claims')
  const end = accessWatch.watch(sub, { sessionId, isAllowed, onLost: () => void outgoing.destroy() })
  outgoing.once('close', end)
}
