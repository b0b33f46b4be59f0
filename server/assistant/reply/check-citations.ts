import { READER_MODEL } from '#contract/product-names.ts'
import { isPassageSource, isWebSource, type Source } from '#contract/source.ts'
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

export function checkCitations(
  context: ReplyContext,
  { sourceList, findings }: CommandResults,
  generated: GeneratedAnswer,
): CheckedCitations {
  const { text, citations } = generated
  const { model, hasDocuments, trace } = context
  const used = usedSources(sourceList, citations, findings.length > 0)
  const whole = () =>
    citations.size === 0 ? used.slice(0, MAX_UNCITED_SOURCES) : focusSources(used, generated, context)
  return {
    sources: trace?.scope === 'whole' ? whole() : used,
    misquotes: findMisquotes(text, sourceList.textOf),
    // An extractive answer says itself that nothing was found; a whole document was read even if it is not cited.
    isUnsupported:
      citations.size === 0 && hasDocuments && trace?.scope === 'passages' && model.identifier !== READER_MODEL,
  }
}
