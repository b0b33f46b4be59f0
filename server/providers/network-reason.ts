import { codeOf, messageOf } from '#server/base/errors.ts'

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'there is no host of that name'],
  ['EAI_AGAIN', 'its name cannot be looked up at the moment'],
  ['ECONNREFUSED', 'nothing answers at that address'],
  ['ECONNRESET', 'it broke the connection off'],
  ['ETIMEDOUT', 'it did not answer in time'],
  ['EHOSTUNREACH', 'no way leads to it'],
  ['ENETUNREACH', 'no way leads to it'],
])

export function networkReason(error: unknown): string {
  const code = codeOf(error)
  const reason = REASONS.get(code ?? '')
  return reason === undefined ? messageOf(error) || (code ?? 'no answer') : `${reason} (${code})`
}
