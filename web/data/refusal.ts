/** Sentences for requests that the server answered and refused, whatever table or route they were for. */
import { z } from 'zod'
import { apiErrorMessage, HttpError } from './client.ts'

const NO_RIGHT = 'You may not do this, or no longer: your role may have changed.'
const GONE = 'It was removed or changed meanwhile, or you may no longer change it.'
const THERE_ALREADY = 'There is one like it already.'
const NOT_TAKEN = 'The server does not accept this.'

/** As the data service reports errors of the database, and its own. */
const restError = z.object({ code: z.string(), message: z.string() })

/** Texts of PostgreSQL itself; others are sentences of our migrations. */
const RAW_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/violates row-level security|^permission denied/, NO_RIGHT],
  [/^duplicate key value/, THERE_ALREADY],
  [/violates foreign key/, GONE],
  [/^null value in column|violates (check|not-null) constraint|^value too long|^invalid input/, NOT_TAKEN],
]

const inPlainWords = (message: string): string => RAW_TEXTS.find(([raw]) => raw.test(message))?.[1] ?? message

/** By the beginning of the code. Of those without a text, the message is a sentence or is recognised. */
const REST_CODES: readonly (readonly [start: string, text?: string])[] = [
  ['PGRST116', GONE],
  ['PT4'],
  ['42501'],
  ['23'],
  ['22', NOT_TAKEN],
]

const REFUSED = new Set([403, 404, 409, 413, 429])

/** Says what was refused and why; null for requests that failed for other reasons. */
export function refusalMessage(error: unknown): string | null {
  if (error instanceof HttpError) {
    const message = REFUSED.has(error.status) ? apiErrorMessage(error) : null
    return message && inPlainWords(message)
  }
  const cause = error instanceof Error ? restError.safeParse(error.cause).data : undefined
  const [, text] = REST_CODES.find(([start]) => cause?.code.startsWith(start)) ?? [null, null]
  return cause === undefined || text === null ? null : (text ?? inPlainWords(cause.message))
}
