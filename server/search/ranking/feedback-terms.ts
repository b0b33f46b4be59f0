import type { Scope } from '#server/database/scope.ts'
import { createByteCache } from '#server/search/index/byte-cache.ts'
import { type LibraryIndex, locatePassage } from '#server/search/index/library-index.ts'
import { weighWord } from '#server/search/query/word-weight.ts'
import { readPassages } from '#server/search/read-passages.ts'
import { stemWords } from '#server/search/text/stemmer.ts'
import { isStopWord } from '#server/search/text/stop-words.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { isWrittenForm } from '#server/search/text/written-forms.ts'

/** Terms of passages, joined by blanks. They never change, because a segment never does. */
const termCache = createByteCache<Uint8Array>(4_000_000)
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export async function readFeedbackTerms(
  scope: Scope,
  library: LibraryIndex,
  passages: readonly number[],
): Promise<Map<number, readonly string[]>> {
  const languages = library.languages.join(' ')
  const keyOf = (passage: number) => {
    const { identity, number } = locatePassage(library, passage)
    return `${identity} ${number} ${languages}`
  }
  const terms = new Map<number, readonly string[]>()
  const missing: number[] = []
  for (const passage of passages) {
    const cached = termCache.get(keyOf(passage))
    if (cached) terms.set(passage, decoder.decode(cached).split(' '))
    else missing.push(passage)
  }
  const texts = (await readPassages(scope, library, missing)).map(({ number, language, found }) => ({
    number,
    language,
    words: wordsOf(found.text).filter(
      (word) =>
        /\p{L}/u.test(word) && !isWrittenForm(word) && weighWord(word) === 1 && !isStopWord(word, library.languages),
    ),
  }))
  for (const [language, ofLanguage] of Map.groupBy(texts, (text) => text.language)) {
    const words = ofLanguage.flatMap((text) => text.words)
    const stems = await stemWords(scope, words, [language])
    for (const text of ofLanguage) {
      const ofPassage = text.words.flatMap((word) => stems.get(word) ?? [])
      terms.set(text.number, ofPassage)
      if (ofPassage.length > 0) termCache.set(keyOf(text.number), encoder.encode(ofPassage.join(' ')))
    }
  }
  return terms
}
