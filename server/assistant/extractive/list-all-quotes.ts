import { isPassageSource } from '#contract/source.ts'
import { withoutListAllWords } from '#server/assistant/retrieval/whole-document-question.ts'
import type { Scope } from '#server/database/scope.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { chooseQuotes } from './choose-quotes.ts'
import { asksForDates, containsDate } from './dates.ts'
import { joinLines } from './join-lines.ts'
import { type QuotableSource, withoutExtension } from './quotable.ts'
import { prepareCandidates, readSentences } from './quote-candidates.ts'
import { sampleEvenly } from './sample-evenly.ts'
import { toQuote } from './sentences.ts'
import { MAX_SUMMARISED_PAGES } from './summary-quotes.ts'

const MAX_LIST_ALL_QUOTES = 10
const MAX_LIST_ALL_PAGES = 12

async function quoteDates(scope: Scope, sources: readonly QuotableSource[]): Promise<QuotableSource[]> {
  const seen = new Set<string>()
  return (await readSentences(scope, sampleEvenly(sources, MAX_SUMMARISED_PAGES)))
    .filter(({ pageText, start, end, isAtEdge }) => {
      const text = joinLines(pageText.slice(start, end))
      const isNew = !isAtEdge && containsDate(text) && !seen.has(text)
      seen.add(text)
      return isNew
    })
    .slice(0, MAX_LIST_ALL_QUOTES)
    .map((sentence, index) => toQuote(sentence, index + 1))
}

export async function quoteAll(
  scope: Scope,
  question: string,
  sources: readonly QuotableSource[],
): Promise<QuotableSource[]> {
  // A document name says where to look, not what to look for.
  const names = new Set(
    sources.filter(isPassageSource).flatMap(({ filename }) => [filename, withoutExtension(filename)]),
  )
  const wanted = [...names].reduce(
    (rest, name) => rest.replaceAll(name.toLowerCase(), ' '),
    withoutListAllWords(question).toLowerCase(),
  )
  if (asksForDates(wanted)) return quoteDates(scope, sources)
  const words = [...new Set(wordsOf(wanted))]
  const counted = sources.map((source) => {
    const text = source.text.toLowerCase()
    return { source, count: words.filter((word) => text.includes(word)).length }
  })
  const best = new Set(counted.toSorted((one, other) => other.count - one.count).slice(0, MAX_LIST_ALL_PAGES))
  const pages = counted.filter((page) => best.has(page)).map(({ source }) => source)
  return chooseQuotes(await prepareCandidates(scope, wanted, pages), MAX_LIST_ALL_QUOTES)
}
