/** Sources that the Alcove Reader quotes for a question. */
import type { Retrieval } from '#server/assistant/retrieval/find-passages.ts'
import { asksToListAll } from '#server/assistant/retrieval/whole-document-question.ts'
import type { Scope } from '#server/database/scope.ts'
import { chooseQuotes } from './choose-quotes.ts'
import { quoteAll } from './list-all-quotes.ts'
import { numbered, type QuotableSource } from './quotable.ts'
import { prepareCandidates } from './quote-candidates.ts'
import { quoteSummary } from './summary-quotes.ts'

/** Runs as the person. */
export async function selectQuotes(
  scope: Scope,
  query: string,
  {
    found,
    isWhole,
    parts,
  }: { found: readonly QuotableSource[]; isWhole: boolean; parts: NonNullable<Retrieval['parts']> },
): Promise<QuotableSource[]> {
  if (query.trim() === '') return quoteSummary(scope, found)
  const ofParts = parts.length > 0 ? await quoteParts(scope, parts) : []
  if (ofParts.length > 0) return ofParts
  if (!isWhole) return chooseQuotes(await prepareCandidates(scope, query, found))
  const every = asksToListAll(query) ? await quoteAll(scope, query, found) : []
  return every.length > 0 ? every : quoteSummary(scope, found)
}

const QUOTES_OF_PART = 2

/** Quotes every part of the question, the best of each first. */
async function quoteParts(scope: Scope, parts: NonNullable<Retrieval['parts']>): Promise<QuotableSource[]> {
  const ofParts: QuotableSource[][] = []
  for (const { query, passages } of parts)
    ofParts.push(chooseQuotes(await prepareCandidates(scope, query, numbered(passages)), QUOTES_OF_PART))
  const inTurn = Array.from({ length: QUOTES_OF_PART }, (_, place) => ofParts.flatMap((quotes) => quotes[place] ?? []))
  const isFirst = (quote: QuotableSource, index: number, all: readonly QuotableSource[]) =>
    all.findIndex(({ text }) => text === quote.text) === index
  return numbered(inTurn.flat().filter(isFirst))
}
