/** Serves the built browser client with a strict content policy. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'

/** Paths of the client's screens; others return its not-found screen with status 404. */
const SCREENS = new Set(['/', '/login'])

export function contentSecurityPolicy(connect: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${connect}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

interface PageOptions {
  readonly builtDir: string
  /** Path of the public address, without a slash at its end. */
  readonly basePath: string
  /** Additional origins that the page may call. */
  readonly connectTo: readonly string[]
}

/** A build serves any path: addresses in its index.html are relative, which screens in other folders could not resolve. */
const placeBelow = (index: string, basePath: string): string =>
  index.replaceAll('="./', `="${basePath}/`).replace('data-base=""', `data-base="${basePath}"`)

export function createPageRoutes({ builtDir, basePath, connectTo }: PageOptions) {
  const routes = new Hono()
  let index: string | undefined

  routes.use(async (context, next) => {
    await next()
    context.header('referrer-policy', 'no-referrer')
    context.header('cross-origin-opener-policy', 'same-origin')
  })

  const immutable = (_path: string, context: { header: (name: string, value: string) => void }) =>
    context.header('cache-control', 'public, max-age=31536000, immutable')
  routes.get('/assets/*', serveStatic({ root: builtDir, precompressed: true, onFound: immutable }))
  routes.get('/pdfjs/*', serveStatic({ root: builtDir, onFound: immutable }))
  routes.get('/favicon.svg', serveStatic({ root: builtDir }))

  routes.get('*', async (context) => {
    index ??= placeBelow(await readFile(path.join(builtDir, 'index.html'), 'utf8'), basePath)
    const host = new URL(context.req.url).host
    // 'self' does not cover the WebSocket of the same host in every browser.
    return context.html(index, SCREENS.has(context.req.path) ? 200 : 404, {
      'content-security-policy': contentSecurityPolicy([`ws://${host}`, `wss://${host}`, ...connectTo].join(' ')),
      'cache-control': 'no-cache',
    })
  })

  return routes
}
