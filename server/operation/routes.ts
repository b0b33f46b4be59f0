/** The operation section of the page. To everybody but the operator, none of its addresses exists. */
import { Hono, type MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { allDailyUsage } from '#contract/usage.ts'
import { MAX_OFFERED_AT_ONCE, type OperatedPeople, PEOPLE_PER_PAGE, type TestMailAnswer } from '#contract/operation.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { parseId } from '#server/api/parse-id.ts'
import { readBody } from '#server/api/read-body.ts'
import { AuthError } from '#server/auth/errors.ts'
import { invitePerson, listPeople, resetSecondFactors, sendTestMail, setDisabled } from '#server/auth/people.ts'
import type { AuthService } from '#server/auth/service.ts'
import { AppError, messageOf } from '#server/base/errors.ts'
import { describeInstallation, type InstallationParts } from './installation.ts'
import { isOperator } from './operators.ts'

const USAGE_DAYS = 90

interface OperationParts extends InstallationParts {
  readonly authService: AuthService
}

const inviteBody = z.strictObject({ email: z.string().max(255) })
const settingBody = z.strictObject({ value: z.string().max(200).nullable() })
const offerBody = z.strictObject({
  models: z.array(z.uuid()).min(1).max(MAX_OFFERED_AT_ONCE),
  is_offered: z.boolean(),
})
const pageQuery = z.coerce.number().int().min(1).max(1_000_000).catch(1)

/** Errors of the auth service with the statuses and codes of the product's own API. */
async function translated<T>(running: Promise<T>): Promise<T> {
  try {
    return await running
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const code =
      error.code === 'user_not_found' ? 'not_found' : error.code === 'unexpected_failure' ? 'unavailable' : 'conflict'
    const { cause } = error
    throw new AppError(
      code,
      cause instanceof Error && code === 'unavailable' ? `${error.message}: ${messageOf(cause)}` : error.message,
      { cause: error },
    )
  }
}

export function createOperationRoutes(parts: OperationParts): Hono<SignedIn> {
  const { database, settings, authService, modelOffers } = parts
  const app = new Hono<SignedIn>()

  const requireOperator: MiddlewareHandler<SignedIn> = async (context, next) => {
    if (!(await isOperator(database, context.get('claims').sub)))
      throw new AppError('not_found', 'There is nothing at this address.')
    await next()
  }
  app.use('/operation', requireOperator)
  app.use('/operation/*', requireOperator)

  app.get('/operation', async (context) => context.json(await describeInstallation(parts)))

  app.get('/operation/people', async (context) => {
    const page = pageQuery.parse(context.req.query('page'))
    const { people, total } = await listPeople(authService, {
      limit: PEOPLE_PER_PAGE,
      offset: (page - 1) * PEOPLE_PER_PAGE,
    })
    const ids = people.map(({ id }) => id)
    const [stored, operators] = await Promise.all([
      database.serviceStatement<{ owner: string; bytes: string }>('select owner, bytes from stored_bytes($1)', [ids]),
      database.serviceStatement<{ user_id: string }>('select user_id from operators where user_id = any($1)', [ids]),
    ])
    const bytesOf = new Map(stored.rows.map(({ owner, bytes }) => [owner, Number(bytes)]))
    const operatorIds = new Set(operators.rows.map(({ user_id: id }) => id))
    return context.json({
      people: people.map((person) => ({
        ...person,
        is_operator: operatorIds.has(person.id),
        bytes: bytesOf.get(person.id) ?? 0,
      })),
      total,
    } satisfies OperatedPeople)
  })

  app.post('/operation/people', async (context) => {
    const { email } = await readBody(context, inviteBody)
    await translated(invitePerson(authService, email))
    return context.body(null, 204)
  })

  /** The operator would otherwise lock the installation's only operator out. */
  const otherPerson = (own: string, given: string): string => {
    const id = parseId(given, 'person')
    if (id === own) throw new AppError('conflict', 'You cannot do this to your own account here.')
    return id
  }

  app.post('/operation/people/:id/disable', async (context) => {
    const id = otherPerson(context.get('claims').sub, context.req.param('id'))
    await translated(setDisabled(authService, id, true))
    return context.body(null, 204)
  })

  app.post('/operation/people/:id/enable', async (context) => {
    const id = otherPerson(context.get('claims').sub, context.req.param('id'))
    await translated(setDisabled(authService, id, false))
    return context.body(null, 204)
  })

  app.post('/operation/people/:id/reset-second-factor', async (context) => {
    const id = otherPerson(context.get('claims').sub, context.req.param('id'))
    await translated(resetSecondFactors(authService, id))
    return context.body(null, 204)
  })

  app.put('/operation/settings/:name', async (context) => {
    const { value } = await readBody(context, settingBody)
    await settings.change(context.req.param('name'), value, context.get('claims').sub)
    return context.body(null, 204)
  })

  app.put('/operation/models', async (context) => {
    const { models, is_offered: isOffered } = await readBody(context, offerBody)
    await modelOffers.offer(models, isOffered, context.get('claims').sub)
    return context.body(null, 204)
  })

  /** To the operator's own address; the answer of the mail server is shown to the operator. */
  app.post('/operation/test-mail', async (context) => {
    const outcome: TestMailAnswer = await sendTestMail(authService, context.get('claims').sub).then(
      (answer) => ({
        sent: true,
        answer: answer ?? 'No mail server is set (SMTP_URL): the mail is in the local mailbox or in the log.',
      }),
      (error: unknown) => ({ sent: false, answer: messageOf(error) }),
    )
    return context.json(outcome)
  })

  app.get('/operation/usage', async (context) => {
    const { rows } = await database.serviceStatement('select * from all_daily_usage($1)', [USAGE_DAYS])
    return context.json(allDailyUsage.parse(rows))
  })

  return app
}
