/** Opens links to conversations: for signed-in people, and for anybody where the operator and the link allow it. */
import { Hono, type MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { sharedConversation } from '#contract/space.ts'
import { findPerson } from '#server/access/authenticate.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { validate } from '#server/base/validate.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { openLink } from '#server/spaces/share-links.ts'
import { renderApiError } from './render-error.ts'

export interface SharedLinkParts {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly address: string
  readonly allowsPublicLinks: boolean
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
  /** @throws AppError `rate_limited` for an address that tries too many */
  readonly limitAddress: MiddlewareHandler
}

const linkPage = z.object({ after: z.coerce.number().int().nonnegative().default(0) })

export function createSharedLinkRoutes(parts: SharedLinkParts) {
  const { database, tokens, log, address, allowsPublicLinks, takeTurn, limitAddress } = parts
  const routes = new Hono()
  routes.onError(renderApiError(log))
  if (takeTurn) routes.use(takeTurn)

  routes.get('/links/:token', limitAddress, async (context) => {
    const token = context.req.param('token')
    const { after } = validate(linkPage, context.req.query())
    const person = await findPerson(context, tokens, address)
    if (!person && !allowsPublicLinks) throw new AppError('unauthenticated', 'Sign in to open this link.')
    const open = (scope: Scope) => openLink(scope, token, after)
    const link = person
      ? await database.asUser(person, open, { readOnly: true })
      : await database.asService(open, { readOnly: true })
    if (!person && !link.isForAnybody) throw new AppError('unauthenticated', 'Sign in to open this link.')
    context.header('x-robots-tag', 'noindex, nofollow')
    return context.json(sharedConversation.parse(link))
  })

  return routes
}
