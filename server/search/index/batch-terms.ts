/** The terms of documents, which enter the index as one segment: one that comes in parts, or several small ones. */
import {
  createDocumentWords,
  type DocumentWords,
  filenameWords,
  type PageToIndex,
  type Passage,
} from './document-terms.ts'
import type { PackedSegment } from './pack-segment.ts'
import { packTerms, type TermOfWord } from './pack-terms.ts'
import { type NumberedWords, numberWords } from './word-log.ts'

export interface TextToIndex {
  readonly filename: string
  readonly pages: readonly PageToIndex[]
}

export interface IndexedText {
  readonly language: string
  readonly passages: readonly Passage[]
}

export interface BatchTerms {
  /** Adds pages to a document, in order; returns the number of its passages so far. `end` then names it. */
  addPages(pages: Iterable<PageToIndex>): number
  /** Ends the document to which pages were added. */
  end(filename: string): void
  add(texts: readonly TextToIndex[]): void
  /** Returns the distinct words of the documents by their stemming language. */
  words(): ReadonlyMap<string, readonly string[]>
  /** Terms of the next words of a language, in the order in which they were returned. */
  addTerms(language: string, terms: readonly string[]): void
  /** Documents in the order given; the first passage of each follows the last one of the document before. */
  pack(): { readonly documents: readonly IndexedText[]; readonly segment: PackedSegment }
}

interface EndedDocument {
  readonly words: DocumentWords
  readonly title: readonly number[]
  readonly language: string
}

export function createBatchTerms(): BatchTerms {
  const numbered = numberWords()
  const ended: EndedDocument[] = []
  const termsOf = new Map<string, ListedTerms>()
  let open = createDocumentWords(numbered)

  function end(filename: string): void {
    ended.push({ words: open, title: filenameWords(filename).map(numbered.numberOf), language: open.language() })
    open = createDocumentWords(numbered)
  }

  return {
    addPages: (pages) => open.add(pages),
    end,
    add(texts) {
      for (const { filename, pages } of texts) {
        open.add(pages)
        end(filename)
      }
    },
    words() {
      for (const [language, documents] of Map.groupBy(ended, (document) => document.language))
        termsOf.set(language, listTerms(numbered, documents))
      return new Map([...termsOf].map(([language, { words }]) => [language, words]))
    },
    addTerms: (language, terms) => termsOf.get(language)?.add(terms),
    pack: () => ({
      documents: ended.map(({ language, words: { passages } }) => ({ language, passages })),
      segment: packTerms(
        numbered,
        ended.map(({ words, title, language }) => ({
          log: words.log,
          lengths: words.passages.map(({ length }) => length),
          title,
          termOfWord: termsOf.get(language)?.termOfWord ?? [],
        })),
      ),
    }),
  }
}

interface ListedTerms {
  readonly words: readonly string[]
  readonly termOfWord: TermOfWord
  add(terms: readonly string[]): void
}

function listTerms(numbered: NumberedWords, documents: readonly EndedDocument[]): ListedTerms {
  const listed = new Set<number>()
  for (const { words, title } of documents) {
    words.log.forEach((word) => listed.add(word))
    for (const word of title) listed.add(word)
  }
  const numbers = [...listed]
  const termOfWord: (string | undefined)[] = Array.from(numbered.words, () => undefined)
  let added = 0
  return {
    words: numbers.map((number) => numbered.words[number] ?? ''),
    termOfWord,
    add(terms) {
      for (const term of terms) termOfWord[numbers[added++] ?? -1] = term
    },
  }
}
