import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { AccessWatch } from './access-watch.ts'
import type { VerifiedClaims } from './tokens.ts'

interface Watched {
  /** Undefined for one without an account, whose right does not end. */
  readonly person: string | undefined
  /** Undefined for a link, which outlives the session that signed it. */
  readonly sessionId?: string | undefined
  /** By default always: what an upload may write is decided where it is written. */
  readonly isAllowed?: () => Promise<boolean>
}

const always = (): Promise<boolean> => Promise.resolve(true)

/**
 * Closes the connection of this request, also while its body arrives, once the person may no longer read or send.
 * @returns whether that has happened
 */
export function endWithAccess(
  context: Context,
  accessWatch: AccessWatch,
  { person, sessionId, isAllowed = always }: Watched,
): () => boolean {
  const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>
  let isLost = false
  if (person !== undefined && outgoing && !outgoing.destroyed) {
    const onLost = () => {
      isLost = true
      outgoing.destroy()
    }
    outgoing.once('close', accessWatch.watch(person, { sessionId, isAllowed, onLost }))
  }
  return () => isLost
}

export const endWithSession = (
  context: Context,
  accessWatch: AccessWatch,
  { sub, session_id: sessionId }: Pick<VerifiedClaims, 'sub' | 'session_id'>,
): (() => boolean) => endWithAccess(context, accessWatch, { person: sub, sessionId })
