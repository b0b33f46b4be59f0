/** What a function says of the answer in `response.status` and `response.headers`, as PostgREST documents it. */
import { z } from 'zod'
import { restError } from './errors.ts'
import { headerName, headerValue, jsonText } from './headers.ts'

/** Columns of a statement: what was said while it ran. */
export const RESPONSE_SETTINGS_COLUMNS = `nullif(current_setting('response.status', true), '') as said_status, nullif(current_setting('response.headers', true), '') as said_headers`

/** Nothing is left of what another request said on the same connection. */
export const CLEARED_RESPONSE_SETTINGS = { 'response.status': '', 'response.headers': '' }

export interface ResponseSettings {
  readonly status: number | undefined
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const NO_RESPONSE_SETTINGS: ResponseSettings = { status: undefined, headers: [] }

const status = z
  .string()
  .regex(/^[2-5]\d\d$/)
  .transform(Number)
const header = z.record(headerName, headerValue).transform((one) => Object.entries(one))
const headers = jsonText.pipe(z.array(header.refine((entries) => entries.length === 1))).transform((all) => all.flat())

/** @throws RestError PGRST111, PGRST112 where it cannot be understood. */
export function parseResponseSettings(
  saidStatus: string | null | undefined,
  saidHeaders: string | null | undefined,
): ResponseSettings {
  if (!saidStatus && !saidHeaders) return NO_RESPONSE_SETTINGS
  const code = status.optional().safeParse(saidStatus ?? undefined)
  if (!code.success) throw restError('PGRST112', 'response.status guc must be a valid status code')
  const list = headers.safeParse(saidHeaders ?? '[]')
  if (list.success) return { status: code.data, headers: list.data }
  throw restError(
    'PGRST111',
    'response.headers guc must be a JSON array composed of objects with a single key and a string value',
  )
}

/** An answer of this kind has no body. */
const isBare = (code: number): boolean => code === 204 || code === 205 || code === 304

/** The answer as the function wanted it: a header takes the place of ours, and may come several times. */
export function applyResponseSettings(
  response: Response,
  { status: code = response.status, headers: said }: ResponseSettings,
): Response {
  if (code === response.status && said.length === 0) return response
  const all = new Headers(response.headers)
  for (const [name] of said) all.delete(name)
  for (const [name, value] of said) all.append(name, value)
  return new Response(isBare(code) ? null : response.body, { status: code, headers: all })
}
