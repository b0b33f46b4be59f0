/** /admin/users: manages accounts; requires the operator's key. */
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import { listAccounts, requireAccount } from './accounts.ts'
import { accountBody, createAccount, deleteAccount, updateAccount, type AccountChanges } from './admin-accounts.ts'
import { AuthError } from './errors.ts'
import { deleteFactor } from './factors.ts'
import { hashPassword, isKnownHash, type PasswordRules, requireAcceptablePassword } from './passwords.ts'
import { readBody, requireEmail, requirePhone } from './request.ts'
import { requireServiceRole } from './require-session.ts'
import type { AuthService } from './service.ts'
import { factorAnswer, userAnswer } from './user-answer.ts'

const deleteBody = z.object({ should_soft_delete: z.boolean().nullish() })

const USERS_PER_PAGE = 50
const MAX_USERS_PER_PAGE = 1000
const AUDIENCE = 'authenticated'

export function adminUserRoutes(service: AuthService): Hono {
  const { database, background, limitDeletions } = service
  const app = new Hono()
  const requireOperator: MiddlewareHandler = async (context, next) => {
    await requireServiceRole(context, service)
    await next()
  }
  app.use('/admin/*', requireOperator)

  app.get('/admin/users', async (context) => {
    const page = readCount(context, 'page', 1)
    const perPage = Math.min(readCount(context, 'per_page', USERS_PER_PAGE), MAX_USERS_PER_PAGE)
    const { accounts, total } = await database.asAuth((scope) =>
      listAccounts(scope, { limit: perPage, offset: (page - 1) * perPage }),
    )
    context.header('x-total-count', String(total))
    context.header('link', pageLinks({ page, perPage, total }))
    return context.json({ users: accounts.map(userAnswer), aud: AUDIENCE })
  })

  app.post('/admin/users', async (context) => {
    const wanted = await readAccountChanges(context, service)
    if (wanted.email === '' && wanted.phone === '') {
      throw new AuthError('validation_failed', 'Cannot create a user without either an email or phone')
    }
    const account = await database.asAuth(async (scope) => requireAccount(scope, await createAccount(scope, wanted)))
    return context.json(userAnswer(account))
  })

  app.get('/admin/users/:id', async (context) => {
    const account = await database.asAuth((scope) => requireAccount(scope, readId(context)))
    return context.json(userAnswer(account))
  })

  app.put('/admin/users/:id', async (context) => {
    const id = readId(context)
    const wanted = await readAccountChanges(context, service)
    const update = () =>
      database.asAuth(async (scope) => {
        const { email } = await requireAccount(scope, id)
        await updateAccount(scope, id, wanted.email === email ? { ...wanted, email: '' } : wanted)
        return requireAccount(scope, id)
      })
    // A ban stops answers and documents in progress, which lock rows of the person in another order.
    const account = await retryDeadlock(update)
    return context.json(userAnswer(account))
  })

  app.delete('/admin/users/:id', async (context) => {
    const id = readId(context)
    const hasBody = context.req.header('content-type') !== undefined
    const { should_soft_delete: isSoft } = hasBody ? await readBody(context, deleteBody) : {}
    await limitDeletions(() =>
      retryDeadlock(() =>
        background.asAuth(async (scope) => {
          await requireAccount(scope, id)
          await deleteAccount(scope, id, isSoft === true)
        }),
      ),
    )
    return context.json({})
  })

  app.get('/admin/users/:id/factors', async (context) => {
    const { factors } = await database.asAuth((scope) => requireAccount(scope, readId(context)))
    return context.json(factors.map(factorAnswer))
  })

  app.delete('/admin/users/:id/factors/:factorId', async (context) => {
    const userId = readId(context)
    const factor = await database.asAuth(async (scope) => {
      const { factors } = await requireAccount(scope, userId)
      const found = factors.find(({ id }) => id === context.req.param('factorId'))
      if (found === undefined) throw new AuthError('mfa_factor_not_found', 'Factor not found')
      await deleteFactor(scope, { userId, id: found.id })
      return found
    })
    return context.json(factorAnswer(factor))
  })

  return app
}

function readId(context: Context): string {
  const parsed = z.uuid().safeParse(context.req.param('id'))
  if (!parsed.success) throw new AuthError('validation_failed', 'user_id must be an UUID', { status: 404 })
  return parsed.data
}

function readCount(context: Context, name: string, fallback: number): number {
  const given = context.req.query(name) ?? ''
  if (given === '') return fallback
  if (!/^[1-9]\d{0,6}$/.test(given)) {
    throw new AuthError('validation_failed', `Bad Pagination Parameters: ${name} has to be a whole number from 1`)
  }
  return Number(given)
}

/** The client reads the page number after the first "=", so `page` has to come first. */
function pageLinks({ page, perPage, total }: { page: number; perPage: number; total: number }): string {
  const last = Math.max(1, Math.ceil(total / perPage))
  const linkTo = (number: number, rel: string) => `</admin/users?page=${number}&per_page=${perPage}>; rel="${rel}"`
  return [...(page < last ? [linkTo(page + 1, 'next')] : []), linkTo(last, 'last')].join(', ')
}

async function readAccountChanges(context: Context, { settings }: AuthService): Promise<AccountChanges> {
  const body = await readBody(context, accountBody)
  return {
    id: body.id ?? undefined,
    email: body.email === '' ? '' : requireEmail(body.email),
    phone: body.phone === '' ? '' : requirePhone(body.phone),
    passwordHash: await chooseHash(body, settings),
    confirmsEmail: body.email_confirm === true,
    confirmsPhone: body.phone_confirm === true,
    userMetadata: body.user_metadata,
    appMetadata: body.app_metadata,
    role: body.role ?? '',
    banS: readDuration(body.ban_duration),
  }
}

async function chooseHash(
  { password, password_hash: hash }: z.output<typeof accountBody>,
  rules: PasswordRules,
): Promise<string | undefined> {
  if (password != null && hash !== '') {
    throw new AuthError('validation_failed', 'Only a password or a password hash should be provided')
  }
  if (password != null && password !== '') {
    requireAcceptablePassword(password, rules)
    return hashPassword(password)
  }
  if (hash !== '' && !isKnownHash(hash)) {
    throw new AuthError('validation_failed', 'Only bcrypt and argon2id hashes are supported')
  }
  return hash === '' ? undefined : hash
}

const UNIT_S: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }
const MAX_BAN_S = 1e10

/** Parses a Go duration ("2h45m") into seconds; "none" is zero. */
function readDuration(text: string): number | undefined {
  if (text === '') return undefined
  if (text === 'none') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_S[unit ?? ''] ?? Number.NaN), 0)
  if (parts.map(([part]) => part).join('') !== text || !(seconds <= MAX_BAN_S)) {
    throw new AuthError(
      'validation_failed',
      'invalid format for ban duration: it wants "none" or a duration such as "24h"',
    )
  }
  return seconds
}
