/**
 * The page of a mailed link. Programs that scan mails open every link in them, so that opening one changes nothing: the
 * button on this page uses the link up. The page works without scripts, and a scanner that runs scripts finds none.
 */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { LINK_ACTIONS } from './mail/templates.ts'
import type { CodeKind } from './one-time-codes.ts'
import { PLAIN_PAGE_CSS } from './plain-page-css.ts'

/** Relative to /auth/v1/verify, so that the page also works below a path. */
const FORM_ACTION = 'verify/link'

/** Apart from the page, where formatting would change the text that the policy names. */
const STYLE = raw(`<style>${PLAIN_PAGE_CSS}</style>`)
const STYLE_HASH = createHash('sha256').update(PLAIN_PAGE_CSS).digest('base64')

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

export function renderLinkPage(context: Context, page: LinkPage) {
  // Without `form-action`: browsers apply it to each redirect after the form, also those of the target itself.
  context.header(
    'content-security-policy',
    ["default-src 'none'", `style-src 'sha256-${STYLE_HASH}'`, "base-uri 'none'", "frame-ancestors 'none'"].join('; '),
  )
  context.header('cross-origin-opener-policy', 'same-origin')
  return context.html(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="dark light" />
          <meta name="robots" content="noindex" />
          <title>${actionOf(page)} · ${PRODUCT_NAME}</title>
          ${STYLE}
        </head>
        <body>
          <main>
            <h1>${PRODUCT_NAME}</h1>
            <p class="note">This link was sent to ${page.email}. It works once, with this button.</p>
            <form method="post" action="${FORM_ACTION}">
              <input type="hidden" name="token" value="${page.token}" />
              <input type="hidden" name="type" value="${page.type}" />
              <input type="hidden" name="redirect_to" value="${page.target.href}" />
              <button type="submit">${actionOf(page)}</button>
            </form>
          </main>
        </body>
      </html>`,
  )
}
