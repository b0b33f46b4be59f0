/**
 * The page of a mailed link. Programs that scan mails open every link in them, so that opening one changes nothing: the
 * button on this page uses the link up. The page works without scripts, and a scanner that runs scripts finds none.
 */
import type { Context } from 'hono'
import { html } from 'hono/html'
import { LINK_ACTIONS } from './mail/templates.ts'
import type { CodeKind } from './one-time-codes.ts'
import { createPlainPage } from './plain-page.ts'

/** Relative to /auth/v1/verify, so that the page also works below a path. */
const FORM_ACTION = 'verify/link'

// Without `formAction`: the redirect after the form may lead to another site.
const renderPage = createPlainPage()

interface LinkPage {
  readonly kind: CodeKind
  /** The address that the link was mailed to. */
  readonly email: string
  readonly token: string
  readonly type: string
  /** An allowed one. */
  readonly target: URL
}

function actionOf({ kind, type }: LinkPage): string {
  if (kind === 'email_change_token_current') return LINK_ACTIONS.email_change_current
  if (kind === 'email_change_token_new') return LINK_ACTIONS.email_change_new
  if (kind === 'recovery_token') return type === 'recovery' ? LINK_ACTIONS.recovery : LINK_ACTIONS.magiclink
  return type === 'invite' ? LINK_ACTIONS.invitation : LINK_ACTIONS.confirmation
}

export const renderLinkPage = (context: Context, page: LinkPage) =>
  renderPage(context, {
    title: actionOf(page),
    body: html`<p class="note">This link was sent to ${page.email}. It works once, with this button.</p>
      <form method="post" action="${FORM_ACTION}">
        <input type="hidden" name="token" value="${page.token}" />
        <input type="hidden" name="type" value="${page.type}" />
        <input type="hidden" name="redirect_to" value="${page.target.href}" />
        <button type="submit">${actionOf(page)}</button>
      </form>`,
  })
