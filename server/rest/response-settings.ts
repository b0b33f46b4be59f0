/** As in PostgREST, functions set status and headers through `response.status` and `response.headers`. */
import { z } from 'zod'
import { restError } from './errors.ts'
import { headerName, headerValue, jsonText } from './headers.ts'

export const RESPONSE_SETTINGS_COLUMNS = `nullif(current_setting('response.status', true), '') as response_status, nullif(current_setting('response.headers', true), '') as response_headers`

/** An earlier request may have left settings on the connection. */
export const CLEARED_RESPONSE_SETTINGS = { 'response.status': '', 'response.headers': '' }

export interface ResponseSettings {
  readonly status: number | undefined
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const NO_RESPONSE_SETTINGS: ResponseSettings = { status: undefined, headers: [] }

const statusSchema = z
  .string()
  .regex(/^[2-5]\d\d$/)
  .transform(Number)
const headerSchema = z.record(headerName, headerValue).transform((one) => Object.entries(one))
const headersSchema = jsonText
  .pipe(z.array(headerSchema.refine((entries) => entries.length === 1)))
  .transform((all) => all.flat())

/** @throws RestError PGRST111 for malformed headers, PGRST112 for a malformed status. */
export function parseResponseSettings(
  statusText: string | null | undefined,
  headersText: string | null | undefined,
): ResponseSettings {
  if (!statusText && !headersText) return NO_RESPONSE_SETTINGS
  const code = statusSchema.optional().safeParse(statusText ?? undefined)
  if (!code.success) throw restError('PGRST112', 'response.status guc must be a valid status code')
  const list = headersSchema.safeParse(headersText ?? '[]')
  if (list.success) return { status: code.data, headers: list.data }
  throw restError(
    'PGRST111',
    'response.headers guc must be a JSON array composed of objects with a single key and a string value',
  )
}

const hasNoBody = (code: number): boolean => code === 204 || code === 205 || code === 304

/** A header replaces ours and can occur several times. */
export function applyResponseSettings(
  response: Response,
  { status: code = response.status, headers }: ResponseSettings,
): Response {
  if (code === response.status && headers.length === 0) return response
  const merged = new Headers(response.headers)
  for (const [name] of headers) merged.delete(name)
  for (const [name, value] of headers) merged.append(name, value)
  return new Response(hasNoBody(code) ? null : response.body, { status: code, headers: merged })
}
