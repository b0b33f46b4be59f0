import { detectStemmer } from '#server/search/text/detect-language.ts'
import { splitPassages } from '#server/search/text/passages.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { createWordLog, type NumberedWords, type WordLog } from './word-log.ts'

export interface PageToIndex {
  readonly page: number
  readonly text: string
  /** The level (1 is the highest) is missing if the format has none. */
  readonly headings: readonly (readonly [offset: number, text: string, level?: number])[] | null
}

export interface Passage {
  readonly page: number
  readonly start: number
  readonly end: number
  readonly heading: string | undefined
  readonly length: number
}

export interface DocumentWords {
  /** Takes pages in order; returns the number of passages so far. */
  add(pages: Iterable<PageToIndex>): number
  readonly passages: readonly Passage[]
  readonly log: WordLog
  /** Stemming language. */
  language(): string
}

const SAMPLE_CHARACTERS = 20_000
const MAX_HEADING_CHARACTERS = 300
const HEADING_SEPARATOR = ' › '

export const filenameWords = (filename: string): string[] =>
  wordsOf(filename.replace(/\.[a-z0-9]{1,5}$/i, '').replaceAll('_', ' '))

class HeadingPath {
  readonly #open: { level: number; title: string }[] = []

  enter(title: string, level = 1): void {
    while ((this.#open.at(-1)?.level ?? 0) >= level) this.#open.pop()
    this.#open.push({ level, title })
  }

  toString(): string | undefined {
    if (this.#open.length === 0) return undefined
    const path = this.#open.map(({ title }) => title.replace(/\s+/g, ' ').trim()).join(HEADING_SEPARATOR)
    return path.slice(0, MAX_HEADING_CHARACTERS).toWellFormed()
  }
}

export function createDocumentWords({ numberOf, isForm }: NumberedWords): DocumentWords {
  const passages: Passage[] = []
  const log = createWordLog()
  const path = new HeadingPath()
  let sample = ''
  let heading: string | undefined
  let headingWords: number[] = []

  function addPage({ page, text, headings }: PageToIndex): void {
    if (sample.length < SAMPLE_CHARACTERS) sample += `${text.slice(0, SAMPLE_CHARACTERS)}\n`
    const upcoming = [...(headings ?? [])]
    let next = 0
    const enterUntil = (offset: number) => {
      for (let found = upcoming[next]; found && found[0] < offset; found = upcoming[next]) {
        path.enter(found[1], found[2])
        next += 1
      }
      const entered = path.toString()
      if (entered !== heading) headingWords = entered === undefined ? [] : wordsOf(entered).map(numberOf)
      heading = entered
    }
    for (const { start, end } of splitPassages(text)) {
      enterUntil(start + 1)
      const inside = wordsOf(text.slice(start, end)).map(numberOf)
      log.addPassage(inside, headingWords)
      // Other forms of what is counted anyway make a passage no longer.
      const length = inside.reduce((sum, word) => (isForm(word) ? sum : sum + 1), 0)
      passages.push({ page, start, end, heading, length })
      enterUntil(end)
    }
  }

  return {
    passages,
    log,
    add(pages) {
      for (const page of pages) addPage(page)
      return passages.length
    },
    language: () => detectStemmer(sample),
  }
}
