/** The local mailbox: /mailbox as a page, /mailbox.json as data. Only in a local set-up. */
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import type { MailboxMail } from '#contract/auth.ts'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { isLocalRequest } from '#server/access/local-request.ts'
import type { Database } from '#server/database/scope.ts'
import { createMailbox } from './mail/mailbox.ts'
import { PLAIN_PAGE_CSS } from './plain-page-css.ts'

export interface MailboxDependencies {
  readonly database: Database
  readonly isLocalSetUp: boolean
}

const PATHS = ['/mailbox', '/mailbox.json', '/mailbox.css']

export function createMailboxRoutes({ database, isLocalSetUp }: MailboxDependencies): Hono {
  const mailbox = createMailbox(database)
  const app = new Hono()

  // Limited to its paths because this app is mounted at the root.
  for (const path of PATHS) {
    app.use(path, async function refuseOutsiders(context: Context, next) {
      if (!isLocalSetUp || !isLocalRequest(context)) return context.notFound()
      context.header('cache-control', 'no-store')
      context.header('cross-origin-resource-policy', 'same-origin')
      context.header('referrer-policy', 'no-referrer')
      return next()
    })
  }

  app.get('/mailbox.json', async (context) => context.json(await mailbox.list()))
  app.get('/mailbox', async (context) => context.html(mailboxPage(await mailbox.list())))
  app.get('/mailbox.css', (context) => context.body(PLAIN_PAGE_CSS, 200, { 'content-type': 'text/css; charset=utf-8' }))
  return app
}

const SENT_AT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const LINK = /(https?:\/\/\S+)/

/** Splitting by a capturing group puts links at odd indexes. */
const withLinks = (text: string) =>
  text.split(LINK).map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : part))

const mailItem = ({ to, subject, text, sentAt }: MailboxMail) => html`
  <li>
    <article>
      <header>
        <h2>${subject}</h2>
        <p>To ${to} · <time datetime="${sentAt}">${SENT_AT.format(new Date(sentAt))}</time></p>
      </header>
      <p class="text">${withLinks(text.trim())}</p>
    </article>
  </li>
`

const mailboxPage = (mails: readonly MailboxMail[]) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark light" />
        <title>Mailbox · ${PRODUCT_NAME}</title>
        <link rel="icon" type="image/svg+xml" href="/favicon.svg" />
        <link rel="stylesheet" href="/mailbox.css" />
      </head>
      <body>
        <main>
          <h1>Mailbox</h1>
          <p class="note">
            No mail server is set, so the mail that ${PRODUCT_NAME} would send stays on this machine.
            <a href="/mailbox">Look again</a> or <a href="/login">go to the sign-in page</a>.
          </p>
          ${
            mails.length === 0
              ? html`<p class="empty">Nothing yet. Create an account, and its confirmation will be here.</p>`
              : html`<ol>
                  ${mails.map(mailItem)}
                </ol>`
          }
        </main>
      </body>
    </html>`
