import type { Context } from 'hono'
import { z } from 'zod'
import { peerAddress, visitorAddress } from '#server/access/client-address.ts'
import { messageOf } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import { AuthError } from './errors.ts'
import type { AuthSettings } from './service.ts'

export interface Visitor {
  readonly address: string | undefined
  readonly userAgent: string | null
}

export function visitorOf(context: Context, { trustProxy }: AuthSettings): Visitor {
  return {
    address: visitorAddress(peerAddress(context), context.req.header('x-forwarded-for'), trustProxy),
    userAgent: context.req.header('user-agent')?.slice(0, 500) ?? null,
  }
}

/** @throws AuthError `bad_json` for invalid JSON or types other than the protocol defines. */
export async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.output<Schema>> {
  const text = await context.req.text()
  const parsed = schema.safeParse(readJson(text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new AuthError(
    'bad_json',
    `Could not parse request body as JSON: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
  )
}

function readJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new AuthError('bad_json', `Could not parse request body as JSON: ${messageOf(error)}`, { cause: error })
  }
}

export const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? '')

export const metadata = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((data) => data ?? {})

export const contact = { email: optionalText, phone: optionalText }

export const normaliseEmail = (email: string): string => email.trim().toLowerCase()

// Browsers require this form in an e-mail field.
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
const MAX_EMAIL_LENGTH = 255

export const isEmail = (email: string): boolean => email.length <= MAX_EMAIL_LENGTH && EMAIL.test(email)

/** Returns the normalised address. @throws AuthError `validation_failed`. */
export function requireEmail(email: string): string {
  const normalised = normaliseEmail(email)
  if (isEmail(normalised)) return normalised
  throw new AuthError('validation_failed', 'Unable to validate email address: invalid format')
}

/** Returns the digits of the number with its country code, without "+". @throws AuthError `validation_failed`. */
export function requirePhone(phone: string): string {
  const digits = phone.replaceAll(/[+\s]/g, '')
  if (/^[1-9]\d{1,14}$/.test(digits)) return digits
  throw new AuthError('validation_failed', 'Invalid phone number format (E.164 required)')
}
