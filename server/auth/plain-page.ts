/** Pages that the server writes itself: without scripts, and with one style, which their content policy names. */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { PLAIN_PAGE_CSS } from './plain-page-css.ts'

interface PlainPageOptions {
  /** Further styles. */
  readonly css?: string
  /** Where forms may lead. Browsers apply it to each redirect after the form, also to other sites; undefined: anywhere. */
  readonly formAction?: string
}

interface PlainPage {
  readonly title: string
  readonly body: ReturnType<typeof html>
}

/** Returns the function that answers with such a page. */
export function createPlainPage({ css = '', formAction }: PlainPageOptions = {}) {
  const styles = PLAIN_PAGE_CSS + css
  // Apart from the page, where formatting would change the text that the policy names.
  const style = raw(`<style>${styles}</style>`)
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(styles).digest('base64')}'`,
    ...(formAction === undefined ? [] : [`form-action ${formAction}`]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return function renderPlainPage(context: Context, { title, body }: PlainPage, status: ContentfulStatusCode = 200) {
    context.header('content-security-policy', policy)
    context.header('cross-origin-opener-policy', 'same-origin')
    return context.html(
      html`<!doctype html>
        <html lang="en">
          <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="dark light" />
            <meta name="robots" content="noindex" />
            <title>${title} · ${PRODUCT_NAME}</title>
            ${style}
          </head>
          <body>
            <main>
              <h1>${PRODUCT_NAME}</h1>
              ${body}
            </main>
          </body>
        </html>`,
      status,
    )
  }
}
