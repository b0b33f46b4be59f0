import { isPassageSource } from '#contract/source.ts'
import type { Scope } from '#server/database/scope.ts'
import { centralSentences } from './central-sentences.ts'
import { MAX_QUOTES } from './choose-quotes.ts'
import { containerIdOf, type QuotableSource, withoutExtension } from './quotable.ts'
import { readSentences } from './quote-candidates.ts'
import { sampleEvenly } from './sample-evenly.ts'
import { toQuote } from './sentences.ts'

const MAX_SUMMARY_QUOTES = 5
/** Bounds the work on long documents, which blocks the event loop. */
export const MAX_SUMMARISED_PAGES = 60

/** One quote per document, or several of a single one; its first sentences if it has no prose. Runs as the person. */
export async function quoteSummary(scope: Scope, sources: readonly QuotableSource[]): Promise<QuotableSource[]> {
  const documents = [...Map.groupBy(sources, containerIdOf).values()]
  const pages = documents.flatMap((all) => sampleEvenly(all, Math.ceil(MAX_SUMMARISED_PAGES / documents.length)))
  const sentences = Map.groupBy(await readSentences(scope, pages), ({ source }) => containerIdOf(source))
  const count = sentences.size > 1 ? 1 : MAX_SUMMARY_QUOTES
  return [...sentences.values()]
    .flatMap((all) => {
      const [first] = all
      const title = first && isPassageSource(first.source) ? withoutExtension(first.source.filename) : ''
      const central = centralSentences(all, title, count)
      return central.length > 0 ? central : all.slice(0, Math.min(count, MAX_QUOTES))
    })
    .map((sentence, index) => toQuote(sentence, index + 1))
}
