/** Names of documents after `@knowledge`, which then looks in those alone. */
import type { CommandToken } from '#web/lib/messages/tool-commands.ts'

const MAX_SUGGESTIONS = 6
/** Names that are written already, each with what parts it from the next, and the beginning of another. */
const NAME_TOKEN =
  /(?:^|\s)@knowledge\s+(?:(?:[“"„«][^“”"„«»\n]+[”"“»]|[^\s,;&]+)\s*[,;&]\s*)*([“"„«]?[^“”"„«»\n,;&]{1,120})$/u

/** The name that the cursor is in, from its first letter: a list that opened before would take Enter from the text. */
export function nameTokenAt(text: string, cursor: number): CommandToken | null {
  const typed = NAME_TOKEN.exec(text.slice(0, cursor))?.[1]?.trimStart()
  if (typed === undefined || typed.replace(/^[“"„«]/, '') === '') return null
  return { start: cursor - typed.length, end: cursor, typed }
}

/** The names that begin with what was typed, in whatever case, each once; none where it is a whole name already. */
export function matchingNames(token: CommandToken | null, names: readonly string[]): readonly string[] {
  if (token === null) return []
  const typed = token.typed.replace(/^[“"„«]/, '').toLowerCase()
  const matching = [...new Set(names)].filter((name) => name.toLowerCase().startsWith(typed))
  return matching.some((name) => name.toLowerCase() === typed) ? [] : matching.slice(0, MAX_SUGGESTIONS)
}

/** A name as it is written after the command: in quotation marks unless it is one word. */
export const quoteName = (name: string): string => (/[\s,:;&?!]/.test(name) ? `“${name}”` : name)

/** A draft that begins with names, and what of it is asked about them. */
const NAMED_DRAFT = /^@knowledge (“[^”\n]+”(?:, “[^”\n]+”)*): ?/u

/** A question about these documents: their names before what is typed, behind those that stand there already. */
export function addDocumentNames(filenames: readonly string[], draft = ''): string {
  const [before = '', named] = NAMED_DRAFT.exec(draft) ?? []
  const names = [...(named === undefined ? [] : [named]), ...filenames.map((name) => `“${name}”`)]
  return `@knowledge ${names.join(', ')}: ${draft.slice(before.length)}`
}

/** A draft that no longer names this document; what is asked stays, and so do the others. */
export function removeDocumentName(filename: string, draft: string): string {
  const [before = '', named = ''] = NAMED_DRAFT.exec(draft) ?? []
  const others = named.split(/(?<=”), /u).filter((name) => name !== '' && name !== `“${filename}”`)
  const asked = draft.slice(before.length)
  return others.length === 0 ? asked : `@knowledge ${others.join(', ')}: ${asked}`
}
