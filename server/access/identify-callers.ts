import { identifyCaller, identifySession } from '#server/base/caller.ts'
import { callerOf } from '#server/database/admission.ts'
import type { TokenVerifier } from './tokens.ts'
import type { UnsentAnswers } from './unsent-answers.ts'

/** Counts the work of a request for the person whose token it has, instead of for its address. */
export const identifyCallers = (tokens: TokenVerifier, unsent: Pick<UnsentAnswers, 'requireRoom'>): TokenVerifier => ({
  async verify(token) {
    const claims = await tokens.verify(token)
    const { sub, session_id: sessionId } = claims
    if (sub !== undefined && sessionId !== undefined) identifySession({ person: sub, sessionId })
    const caller = callerOf(claims)
    if (caller !== undefined) {
      unsent.requireRoom(caller)
      identifyCaller(caller)
    }
    return claims
  },
})
