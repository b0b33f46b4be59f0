import { PostgrestClient } from '@supabase/postgrest-js'
import { z } from 'zod'
import { ownPath } from '#web/data/base-path.ts'
import { config } from './config.ts'
import { accessToken, anonKey, confirmSession } from './auth/session.ts'
import { isOfSamePerson } from './auth/token-claims.ts'

const errorBody = z.object({ error: z.object({ message: z.string() }) })

/** A failed request to the product API; the message is `status: body`. */
export class HttpError extends Error {
  readonly status: number

  constructor(status: number, body: string) {
    super(`${status}: ${body}`)
    this.status = status
  }
}

const UNAUTHORIZED = 401

/** Statuses without a server: 0 by the data service's client, the others by a proxy. */
const UNREACHED_STATUSES: readonly number[] = [0, 502, 503, 504]

/** Whether a request has found no server; `fetch` fails with a TypeError then. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof HttpError && UNREACHED_STATUSES.includes(error.status))
}

/**
 * Sends a request with the access token, and once more if the server takes that one for expired.
 * @param send gets null while signed out
 */
export async function sendAsPerson<Answer extends { readonly status: number }>(
  send: (token: string | null) => Promise<Answer>,
): Promise<Answer> {
  const token = await accessToken()
  const answer = await send(token)
  if (answer.status !== UNAUTHORIZED) return answer
  await confirmSession()
  const renewed = await accessToken()
  const isRepeatable = token !== null && renewed !== null && renewed !== token && isOfSamePerson(token, renewed)
  return isRepeatable ? send(renewed) : answer
}

/** Sends the session cookie, and the access token if there is one. @throws HttpError if the status is no success */
export async function apiFetch(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await sendAsPerson((token) => {
    const headers = new Headers(init.headers)
    if (token !== null) headers.set('authorization', `Bearer ${token}`)
    return fetch(ownPath(path), { ...init, headers, credentials: 'include' })
  })
  if (!response.ok) throw new HttpError(response.status, (await response.text()) || response.statusText)
  return response
}

export function apiSend(
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: unknown,
  signal: AbortSignal | null = null,
): Promise<Response> {
  return apiFetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal })
}

/** The message in the body of a failed product API request; null for other errors. */
export function apiErrorMessage(error: unknown): string | null {
  const body = error instanceof HttpError ? error.message.slice(error.message.indexOf('{')) : ''
  try {
    return errorBody.parse(JSON.parse(body)).error.message
  } catch {
    return null
  }
}

export async function readJson(response: Promise<Response>): Promise<unknown> {
  return await (await response).json()
}

export async function apiJson<T>(path: string, schema: z.ZodType<T>, init?: RequestInit): Promise<T> {
  const response = await apiFetch(path, init)
  return schema.parse(await response.json())
}

/** Aborts with the first of the given signals. */
export const eitherSignal = (...signals: readonly (AbortSignal | undefined)[]): AbortSignal =>
  AbortSignal.any(signals.filter((signal) => signal !== undefined))

export async function nullIfNotFound<T>(request: () => Promise<T>): Promise<T | null> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null
    throw error
  }
}

function fetchAsUser(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  return sendAsPerson((token) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token ?? anonKey()}`)
    return fetch(input, { ...init, headers })
  })
}

const restClient = (send: typeof fetch): PostgrestClient =>
  new PostgrestClient(new URL(`${config().supabaseUrl}/rest/v1`, location.origin).href, {
    headers: { apikey: anonKey() },
    fetch: send,
    retry: false,
    timeout: 10_000,
  })

let client: PostgrestClient | null = null

/** The data service with the person's token. Its own retries are off: the fallback follows at once. */
export const rest = (): PostgrestClient => (client ??= restClient(fetchAsUser))

let keepaliveClient: PostgrestClient | null = null

/** As `rest`, for small writes that complete even if the person leaves the page. */
export const keepaliveRest = (): PostgrestClient =>
  (keepaliveClient ??= restClient((input, init) => fetchAsUser(input, { ...init, keepalive: true })))

type RestAnswer = { data: unknown; error: { message: string } | null }

/** Longer than the server lets a request wait for its turn. */
const FALLBACK_LIMIT_MS = 30_000

/**
 * Queries the data service; on any error, logs it and calls the product API. One schema validates both results.
 * @param fallback gets a signal that aborts after the time limit
 */
export async function restWithApiFallback<T>(
  schema: z.ZodType<T>,
  direct: () => PromiseLike<RestAnswer>,
  fallback: (signal: AbortSignal) => Promise<unknown>,
): Promise<T> {
  try {
    const { data, error } = await direct()
    if (error !== null) throw new Error(error.message, { cause: error })
    return schema.parse(data)
  } catch (error) {
    console.error('Data service failed, asking the product API', error)
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new Error('The product API did not answer in time')), FALLBACK_LIMIT_MS)
    try {
      return schema.parse(await fallback(limit.signal))
    } finally {
      clearTimeout(timer)
    }
  }
}
