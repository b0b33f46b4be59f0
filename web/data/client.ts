/** The two roads to the server: the data service directly, and the product's own API where that one fails. */
import { PostgrestClient } from '@supabase/postgrest-js'
import type { z } from 'zod'
import { config } from './config.ts'
import { accessToken, anonKey } from './session.ts'

/** A non-successful answer of the product API; the message is `status: body`. */
export class HttpError extends Error {
  readonly status: number

  constructor(status: number, body: string) {
    super(`${status}: ${body}`)
    this.status = status
  }
}

/** Calls the product API with the cookie and, when at hand, the access token. Throws `HttpError` on a failure. */
export async function apiFetch(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  const token = await accessToken()
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  const response = await fetch(path, { ...init, headers, credentials: 'include' })
  if (!response.ok) throw new HttpError(response.status, (await response.text()) || response.statusText)
  return response
}

/** `apiFetch` with a JSON body. */
export function apiSend(method: 'POST' | 'PATCH', path: string, body: unknown): Promise<Response> {
  return apiFetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** The JSON of an answer, whose shape its reader checks. */
export async function jsonOf(response: Promise<Response>): Promise<unknown> {
  return await (await response).json()
}

/** `apiFetch` that reads JSON and checks its shape. */
export async function apiRead<T>(path: string, schema: z.ZodType<T>, init?: RequestInit): Promise<T> {
  const response = await apiFetch(path, init)
  return schema.parse(await response.json())
}

async function fetchAsUser(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${(await accessToken()) ?? anonKey()}`)
  return fetch(input, { ...init, headers })
}

let restClient: PostgrestClient | null = null

/** The data service, asked as the person. Its own retries are off: the fallback comes at once. */
export function rest(): PostgrestClient {
  restClient ??= new PostgrestClient(new URL(`${config().supabaseUrl}/rest/v1`, location.origin).href, {
    headers: { apikey: anonKey() },
    fetch: fetchAsUser,
    retry: false,
    timeout: 10_000,
  })
  return restClient
}

type DirectAnswer = { data: unknown; error: { message: string } | null }

/**
 * Asks the data service; on any error logs it and asks the product API instead. Both answers are checked against the
 * same schema.
 */
export async function directThenApi<T>(
  schema: z.ZodType<T>,
  direct: () => PromiseLike<DirectAnswer>,
  fallback: () => Promise<unknown>,
): Promise<T> {
  try {
    const { data, error } = await direct()
    if (error !== null) throw new Error(error.message, { cause: error })
    return schema.parse(data)
  } catch (error) {
    console.error('Data service failed, asking the product API', error)
    return schema.parse(await fallback())
  }
}
