/** The page of the one-time link: its first visitor signs up with it, or signs in, and is the operator. Works without scripts. */
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html } from 'hono/html'
import { rejectOtherSites } from '#server/access/authenticate.ts'
import { AuthError } from '#server/auth/errors.ts'
import { openOperatorAccount } from '#server/auth/operator-account.ts'
import { createPlainPage } from '#server/auth/plain-page.ts'
import type { AuthService } from '#server/auth/service.ts'
import { APP_ERROR_STATUS, AppError } from '#server/base/errors.ts'
import type { Database } from '#server/database/scope.ts'
import { requireLink, useOperatorLink } from './operators.ts'

const MAX_FORM_BYTES = 10_000

const FIELD_CSS = `
label { display: block; margin-top: 24px; font: 500 14px/20px 'Inter Variable', system-ui, sans-serif; }
input {
  display: block; width: 100%; max-width: 24rem; margin-top: 6px; padding: 9px 12px; border: 1px solid var(--rule); border-radius: 6px;
  background: transparent; color: var(--ink); font: 15px/20px 'Inter Variable', system-ui, sans-serif;
}
input:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; }
[role='alert'] { margin-top: 24px; font: 15px/22px 'Inter Variable', system-ui, sans-serif; }
`
const renderPlainPage = createPlainPage({ css: FIELD_CSS, formAction: "'self'" })

interface PageState {
  /** Undefined: the link has ended, so that there is no form. */
  readonly token: string | undefined
  readonly email?: string
  readonly error?: string
}

function renderPage(context: Context, { token, email = '', error }: PageState, status: 200 | 400 | 404 | 429 | 422) {
  context.header('cache-control', 'no-store')
  const alert = error === undefined ? '' : html`<p role="alert">${error}</p>`
  const form =
    token === undefined
      ? ''
      : html`<form method="post" action="operator">
          <input type="hidden" name="token" value="${token}" />
          <label>E-mail<input type="email" name="email" value="${email}" autocomplete="username" required /></label>
          <label>Password<input type="password" name="password" autocomplete="new-password" required /></label>
          <p class="note">
            With the address and password of an account that exists, that account becomes the operator.
          </p>
          <button type="submit">Become the operator</button>
        </form>`
  const body = html`<p class="note">
      The operator decides who may sign up, what people may use and which settings apply, and reads nobody's documents
      or conversations.
    </p>
    ${alert} ${form}`
  return renderPlainPage(context, { title: 'Operator', body }, status)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A reason that the visitor can do something about; other errors are thrown on. */
function describeRefusal(thrown: unknown): { message: string; status: 400 | 404 | 422 | 429 } {
  if (thrown instanceof AuthError) return { message: thrown.message, status: 422 }
  if (thrown instanceof AppError && thrown.code === 'not_found')
    return { message: thrown.message, status: APP_ERROR_STATUS.not_found }
  throw thrown
}

interface OperatorPageOptions {
  readonly database: Database
  readonly authService: AuthService
  readonly limitAddress: MiddlewareHandler
}

export function createOperatorPage({ database, authService, limitAddress }: OperatorPageOptions): Hono {
  const app = new Hono()

  app.get('/operator', limitAddress, async (context) => {
    const token = context.req.query('token') ?? ''
    try {
      await requireLink(database, token)
    } catch (error) {
      const { message, status } = describeRefusal(error)
      return renderPage(context, { token: undefined, error: message }, status)
    }
    return renderPage(context, { token }, 200)
  })

  app.post('/operator', limitAddress, rejectOtherSites, bodyLimit({ maxSize: MAX_FORM_BYTES }), async (context) => {
    const form = await context.req.parseBody()
    const [token, email, password] = [textOf(form['token']), textOf(form['email']), textOf(form['password'])]
    try {
      await useOperatorLink(database, token, () => openOperatorAccount(authService, { email, password }))
    } catch (error) {
      const { message, status } = describeRefusal(error)
      return renderPage(context, { token: status === 404 ? undefined : token, email, error: message }, status)
    }
    authService.log.info('the operator of this installation is known')
    return context.redirect('login', 303)
  })

  return app
}
