/** The terms of several small documents, which enter the index as one segment. */
import type { Terms } from '#server/search/text/stemmer.ts'
import { createDocumentTerms, packTerms, type PageToIndex, type Passage } from './document-terms.ts'
import type { PackedSegment } from './pack-segment.ts'

export interface TextToIndex {
  readonly filename: string
  readonly pages: readonly PageToIndex[]
}

export interface IndexedText {
  readonly language: string
  readonly passages: readonly Passage[]
}

export interface BatchTerms {
  /** Returns the distinct words of the texts by their stemming language. */
  add(texts: readonly TextToIndex[]): ReadonlyMap<string, readonly string[]>
  addTerms(language: string, terms: Terms): void
  /** Documents in the order given; the first passage of each follows the last one of the document before. */
  pack(): { readonly documents: readonly IndexedText[]; readonly segment: PackedSegment }
}

export function createBatchTerms(): BatchTerms {
  const added: {
    readonly filename: string
    readonly language: string
    readonly terms: ReturnType<typeof createDocumentTerms>
  }[] = []
  const termsOf = new Map<string, Map<string, readonly string[]>>()
  return {
    add(texts) {
      const wordsOf = new Map<string, Set<string>>()
      for (const { filename, pages } of texts) {
        const terms = createDocumentTerms()
        terms.add(pages)
        const { words, language } = terms.words(filename)
        const known = wordsOf.get(language) ?? new Set<string>()
        for (const word of words) known.add(word)
        wordsOf.set(language, known)
        added.push({ filename, language, terms })
      }
      return new Map([...wordsOf].map(([language, words]) => [language, [...words]]))
    },
    addTerms(language, terms) {
      const known = termsOf.get(language) ?? new Map<string, readonly string[]>()
      for (const [word, list] of terms) known.set(word, list)
      termsOf.set(language, known)
    },
    pack() {
      const grouped = added.map(({ filename, language, terms }) => terms.group(filename, termsOf.get(language)))
      return {
        documents: added.map(({ language }, index) => ({ language, passages: grouped[index]?.passages ?? [] })),
        segment: packTerms(grouped),
      }
    },
  }
}
