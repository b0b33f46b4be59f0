/** Parses the names that begin an argument of `@knowledge`: `lease.pdf …` or `“lease.pdf”, “house rules.pdf”: …`. Pure. */
import { UPLOAD_TYPES } from '#contract/file-types.ts'

interface NamedDocument {
  readonly id: string
  readonly filename: string
}

interface Named {
  readonly documentIds: readonly string[]
  readonly question: string
}

const OPENING_QUOTE = /^["'“„«]\s?/u
const CLOSING_QUOTE = /^\s?["'”“»]/u
const NAME_ENDS = /^(?:["'”“»]|[\s,:;?!]|$)/u
const SEPARATOR = /^\s*(?:[,;&]\s*|(?=["'“„«]))/u
const BEFORE_QUESTION = /^[,:;\s]+/u

const ENDING = String.raw`\.(?:${Object.keys(UPLOAD_TYPES).join('|')})`
const QUOTED_NAME = new RegExp(String.raw`^["'“„«]\s?([^"'”“»\n]{1,200}${ENDING})\s?["'”“»]`, 'iu')
const BARE_NAME = new RegExp(String.raw`^([^\s"'“„«]{1,200}${ENDING})(?=[\s,:;?!]|$)`, 'iu')

export const findMissingName = (question: string): string | undefined =>
  (QUOTED_NAME.exec(question) ?? BARE_NAME.exec(question))?.[1]

/** Ignores case and prefers the longest name; all documents with an equal name are chosen. */
export function parseLeadingNames(argument: string, documents: readonly NamedDocument[]): Named {
  const chosen = new Set<string>()
  let rest = argument.trimStart()
  for (let next = rest; ;) {
    const unquoted = next.replace(OPENING_QUOTE, '')
    const fitting = documents.filter(
      ({ filename }) =>
        filename !== '' &&
        unquoted.slice(0, filename.length).toLowerCase() === filename.toLowerCase() &&
        NAME_ENDS.test(unquoted.slice(filename.length)),
    )
    const length = Math.max(0, ...fitting.map(({ filename }) => filename.length))
    if (length === 0) break
    for (const { id, filename } of fitting) if (filename.length === length) chosen.add(id)
    rest = unquoted.slice(length)
    if (unquoted !== next) rest = rest.replace(CLOSING_QUOTE, '')
    const separator = SEPARATOR.exec(rest)?.[0]
    if (separator === undefined) break
    next = rest.slice(separator.length)
  }
  if (chosen.size === 0) return { documentIds: [], question: argument }
  return { documentIds: [...chosen], question: rest.replace(BEFORE_QUESTION, '') }
}
