/** Names of documents after `@knowledge`, which limit the search to them. */
import type { CommandToken } from '#web/lib/messages/tool-commands.ts'

const MAX_SUGGESTIONS = 6
/** Complete names with their separators, then the beginning of another. */
const NAME_TOKEN =
  /(?:^|\s)@knowledge\s+(?:(?:[“"„«][^“”"„«»\n]+[”"“»]|[^\s,;&]+)\s*[,;&]\s*)*([“"„«]?[^“”"„«»\n,;&]{1,120})$/u

/** The name at the cursor, from its first letter on: an earlier list of suggestions would capture Enter. */
export function nameTokenAt(text: string, cursor: number): CommandToken | null {
  const typed = NAME_TOKEN.exec(text.slice(0, cursor))?.[1]?.trimStart()
  if (typed === undefined || typed.replace(/^[“"„«]/, '') === '') return null
  return { start: cursor - typed.length, end: cursor, typed }
}

/** The typed beginning of a name, without a quotation mark. */
export const typedName = (token: CommandToken | null): string => token?.typed.replace(/^[“"„«]/, '') ?? ''

/** The names that begin with the typed text, case-insensitive and without repeats; empty once it is a complete name. */
export function matchingNames(token: CommandToken | null, names: readonly string[]): readonly string[] {
  const typed = typedName(token).toLowerCase()
  if (typed === '') return []
  const matching = [...new Set(names)].filter((name) => name.toLowerCase().startsWith(typed))
  return matching.some((name) => name.toLowerCase() === typed) ? [] : matching.slice(0, MAX_SUGGESTIONS)
}

export const quoteName = (name: string): string => (/[\s,:;&?!]/.test(name) ? `“${name}”` : name)

const NAMED_DRAFT = /^@knowledge (“[^”\n]+”(?:, “[^”\n]+”)*): ?/u

export function addDocumentNames(filenames: readonly string[], draft = ''): string {
  const [before = '', named] = NAMED_DRAFT.exec(draft) ?? []
  const names = [...(named === undefined ? [] : [named]), ...filenames.map((name) => `“${name}”`)]
  return `@knowledge ${names.join(', ')}: ${draft.slice(before.length)}`
}

export function removeDocumentName(filename: string, draft: string): string {
  const [before = '', named = ''] = NAMED_DRAFT.exec(draft) ?? []
  const others = named.split(/(?<=”), /u).filter((name) => name !== '' && name !== `“${filename}”`)
  const asked = draft.slice(before.length)
  return others.length === 0 ? asked : `@knowledge ${others.join(', ')}: ${asked}`
}
