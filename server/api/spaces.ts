/** Invitations and links: beyond direct calls to the tables of spaces, they need mails and secrets. */
import { Hono } from 'hono'
import { createdLink, newInvitation, newLink, type SpaceReceipt, spaceReceipt } from '#contract/space.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { AppError } from '#server/base/errors.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import type { Database } from '#server/database/scope.ts'
import { DISCARD_JOB, DISCARD_REQUEST } from '#server/documents/ingest/blob-cleanup.ts'
import type { Jobs } from '#server/jobs/start.ts'
import { deleteSpace } from '#server/spaces/delete-space.ts'
import { answerInvitation, inviteToSpace, type Invitation } from '#server/spaces/invitations.ts'
import { createLink, listLinks, revokeLink } from '#server/spaces/share-links.ts'
import { parseId } from './parse-id.ts'
import { readBody } from './read-body.ts'

export interface InvitationMail extends Invitation {
  readonly email: string
  /** The id of the person who invites: mails of one person are limited. */
  readonly inviterId: string
}

export interface ReceiptMail {
  readonly recipientId: string
  readonly receipt: SpaceReceipt
}

export interface SpaceRoutesParts {
  readonly database: Database
  /** For deletions, which may take long. */
  readonly background: Database
  readonly jobs: Pick<Jobs, 'enqueue'>
  /** In the background: the space is already deleted. */
  readonly sendReceipt: (mail: ReceiptMail) => void
  /** Sends in the background, so that no answer tells whether the address has an account. */
  readonly sendInvitation: (mail: InvitationMail) => void
  readonly address: string
  readonly allowsPublicLinks: boolean
}

export function createSpaceRoutes(parts: SpaceRoutesParts) {
  const { database, background, jobs, sendInvitation, sendReceipt, address, allowsPublicLinks } = parts
  const routes = new Hono<SignedIn>()

  routes.delete('/spaces/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'space')
    const claims = context.get('claims')
    // Answers and documents in progress lock rows of the space in another order.
    const receipt = await retryDeadlock(() => background.asUser(claims, (scope) => deleteSpace(scope, id)))
    jobs.enqueue(DISCARD_JOB, DISCARD_REQUEST)
    sendReceipt({ recipientId: claims.sub, receipt })
    return context.json(spaceReceipt.parse(receipt))
  })

  routes.post('/spaces/:id/invitations', async (context) => {
    const id = parseId(context.req.param('id'), 'space')
    const { email, role } = await readBody(context, newInvitation)
    const claims = context.get('claims')
    const invitation = await database.asUser(claims, (scope) => inviteToSpace(scope, id, { email, role }))
    if (invitation) sendInvitation({ ...invitation, email, inviterId: claims.sub })
    return context.json({}, 202)
  })

  for (const [action, isAccepted] of [
    ['accept', true],
    ['decline', false],
  ] as const)
    routes.post(`/invitations/:id/${action}`, async (context) => {
      const id = parseId(context.req.param('id'), 'invitation')
      const spaceId = await database.asUser(context.get('claims'), (scope) => answerInvitation(scope, id, isAccepted))
      return context.json({ space_id: spaceId })
    })

  routes.post('/conversations/:id/links', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    const { days, anybody } = await readBody(context, newLink)
    if (anybody && !allowsPublicLinks)
      throw new AppError(
        'forbidden',
        'Links for people without an account are off here. Whoever runs this server can allow them.',
      )
    const { token, ...link } = await database.asUser(context.get('claims'), (scope) =>
      createLink(scope, id, { days, isForAnybody: anybody }),
    )
    const url = new URL(`${address}/`)
    url.searchParams.set('link', token)
    return context.json(createdLink.parse({ ...link, url: url.href }), 201)
  })

  routes.get('/conversations/:id/links', async (context) => {
    const id = parseId(context.req.param('id'), 'conversation')
    return context.json(
      await database.asUser(context.get('claims'), (scope) => listLinks(scope, id), { readOnly: true }),
    )
  })

  routes.delete('/links/:id', async (context) => {
    const id = parseId(context.req.param('id'), 'link')
    await database.asUser(context.get('claims'), (scope) => revokeLink(scope, id))
    return context.body(null, 204)
  })

  return routes
}
