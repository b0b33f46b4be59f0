import type { Context } from 'hono'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const REQUEST_HEADERS = [
  'authorization',
  'apikey',
  'content-type',
  'x-client-info',
  'x-supabase-api-version',
  'prefer',
  'range',
  'range-unit',
  'accept-profile',
  'content-profile',
  'accept',
  'x-upsert',
  'cache-control',
  'x-metadata',
]
// Browsers hide headers that are not listed here; supabase-js reads counts from Content-Range.
export const EXPOSED_HEADERS = [
  'Content-Range',
  'Content-Location',
  'Content-Profile',
  'Location',
  'Preference-Applied',
  'Proxy-Status',
  'X-Total-Count',
  'Link',
  'X-Supabase-Api-Version',
  'Retry-After',
  'WWW-Authenticate',
]

/** As PostgREST answers it: with 200, and `Allow`. */
export function answerPreflight(context: Context): Response {
  const requested = (context.req.header('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
  // Other request headers, tracing for example, are harmless.
  const allowed = new Set([...REQUEST_HEADERS, ...requested.filter((name) => /^[\w-]+$/.test(name))])
  context.header('Access-Control-Allow-Origin', '*')
  context.header('Access-Control-Allow-Methods', METHODS)
  context.header('Access-Control-Allow-Headers', [...allowed].join(', '))
  context.header('Access-Control-Max-Age', '86400')
  context.header('Allow', METHODS)
  return context.body(null, 200)
}
