import type { UnverifiedClaim } from '#contract/message.ts'
import { READER_MODEL } from '#contract/product-names.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isPassageSource, isWebSource, type Source } from '#contract/source.ts'
import { findUnverified } from '#server/assistant/citations/check-claims.ts'
import { findMisquotes } from '#server/assistant/citations/check-quotations.ts'
import { focusSource } from '#server/assistant/citations/focus-source.ts'
import type { Citations } from '#server/assistant/citations/markers.ts'
import type { SourceList } from '#server/assistant/citations/source-list.ts'
import type { ReplyContext } from './context.ts'
import { type GeneratedAnswer, MAX_UNCITED_SOURCES } from './generate.ts'
import type { CommandResults } from './run-commands.ts'

export interface CheckedCitations {
  readonly sources: readonly Source[]
  readonly misquotes: readonly string[]
  readonly unverified: readonly UnverifiedClaim[]
  readonly isUnsupported: boolean
}

/** The cited sources. Without citations, all sources of the prompt, or only web pages where a command accessed the web. */
function usedSources({ all }: SourceList, citations: Citations, hasLookedOutside: boolean): readonly Source[] {
  if (citations.size > 0) return all.filter(({ n }) => citations.has(n))
  return hasLookedOutside ? all.filter(isWebSource) : all
}

/** Narrows pages that were read whole to the cited part; sources of an earlier part are narrowed already. */
function focusSources(
  used: readonly Source[],
  { text, citations }: GeneratedAnswer,
  { sources, unfinished, model }: ReplyContext,
): readonly Source[] {
  if (model.identifier === READER_MODEL) return used
  const pages = new Map(
    sources.filter((source) => !unfinished.sources.includes(source)).map((source) => [source.n, source]),
  )
  return used.map((source) => {
    const page = pages.get(source.n)
    return page && isPassageSource(page) ? focusSource(page, text, citations.get(source.n)) : source
  })
}

/** Questions of the conversation whose figures and names an answer may repeat. */
const MAX_KNOWN_QUESTIONS = 20
/** Characters of these, the latest first: reading them blocks the event loop. */
const MAX_KNOWN_CHARACTERS = 100_000

/** The extractive answerer writes no figures of its own. */
function unverifiedClaims(
  { model, history, sources }: ReplyContext,
  { sourceList }: CommandResults,
  { text, citations }: GeneratedAnswer,
): readonly UnverifiedClaim[] {
  if (citations.size === 0 || model.identifier === READER_MODEL) return []
  const asked = history.filter(({ sender_role: role }) => role === SENDER_ROLES.user).map(({ content }) => content)
  const pages = new Map(sources.flatMap((source) => (isPassageSource(source) ? [[source.n, source.page]] : [])))
  return findUnverified(text, {
    numbers: sourceList.numbers,
    passageOf: (n) => {
      const full = sourceList.textOf(n)
      return full === undefined ? undefined : { text: full, page: pages.get(n) }
    },
    known: [
      asked.slice(-MAX_KNOWN_QUESTIONS).toReversed().join('\n').slice(0, MAX_KNOWN_CHARACTERS),
      new Date().toISOString().slice(0, 10),
    ],
    fileNames: sourceList.all.flatMap((source) => (isPassageSource(source) ? source.filename : [])),
  })
}

export function checkCitations(
  context: ReplyContext,
  commands: CommandResults,
  generated: GeneratedAnswer,
): CheckedCitations {
  const { sourceList, findings } = commands
  const { text, citations } = generated
  const { model, hasDocuments, trace } = context
  const used = usedSources(sourceList, citations, findings.length > 0)
  const whole = () =>
    citations.size === 0 ? used.slice(0, MAX_UNCITED_SOURCES) : focusSources(used, generated, context)
  return {
    sources: trace?.scope === 'whole' ? whole() : used,
    misquotes: findMisquotes(text, sourceList.textOf, sourceList.numbers),
    unverified: unverifiedClaims(context, commands, generated),
    // An extractive answer says itself that nothing was found; a whole document was read even if it is not cited.
    isUnsupported:
      citations.size === 0 && hasDocuments && trace?.scope === 'passages' && model.identifier !== READER_MODEL,
  }
}

/** A stopped answer keeps all its sources. Its last word may be cut and is not judged. */
export function checkStopped(
  context: ReplyContext,
  commands: CommandResults,
  generated: GeneratedAnswer,
): CheckedCitations {
  const { misquotes, unverified } = checkCitations(context, commands, generated)
  const { length } = generated.text.trimEnd()
  return {
    sources: generated.uncheckedSources,
    misquotes,
    unverified: unverified.filter(({ start, text }) => start + text.length < length),
    isUnsupported: false,
  }
}
