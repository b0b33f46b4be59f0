/**
 * Everyday and formal words for one thing, in fourteen languages: `concepts/*.tsv`, a concept a line, a language a column,
 * words separated by semicolons. All words of a line are searched for in place of each other.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Scope } from '#server/database/scope.ts'
import { stemByLanguage } from '#server/search/text/stemmer.ts'
import { isStopWord } from '#server/search/text/stop-words.ts'
import { foldAccents, wordsOf } from '#server/search/text/tokenizer.ts'
import { wordKey } from './word-key.ts'

const FOLDER = new URL('concepts/', import.meta.url)

/** Stemming languages of the documents in which the words of a column are looked up. Empty: any, by pairs of characters. */
export const STEMMERS = {
  en: ['english'],
  de: ['german'],
  fr: ['french'],
  es: ['spanish', 'catalan'],
  it: ['italian'],
  pt: ['portuguese'],
  nl: ['dutch'],
  sv: ['swedish'],
  no: ['norwegian', 'danish'],
  ru: ['russian'],
  ar: ['arabic'],
  ja: [],
  zh: [],
  ko: [],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Column = keyof typeof STEMMERS
export const COLUMNS = Object.keys(STEMMERS).filter((column): column is Column => column in STEMMERS)

export const isPairedColumn = (column: Column): boolean => STEMMERS[column].length === 0

export type Concept = ReadonlyMap<Column, readonly string[]>

let concepts: Promise<readonly Concept[]> | undefined

/** @throws if a line has another number of columns than the table. */
export function parseConcepts(table: string): Concept[] {
  return table
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const cells = line.split('\t')
      if (cells.length !== COLUMNS.length) throw new Error(`${cells.length} columns: ${line}`)
      return new Map(
        COLUMNS.map((column, index) => [
          column,
          (cells[index] ?? '')
            .split(';')
            .map((word) => word.trim())
            .filter((word) => word !== ''),
        ]),
      )
    })
}

async function readConcepts(): Promise<readonly Concept[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.tsv')).toSorted()
  const tables = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER), 'utf8')))
  return tables.flatMap(parseConcepts)
}

export async function openConcepts(): Promise<readonly Concept[]> {
  if (concepts) return concepts
  const opened = (concepts = readConcepts())
  opened.catch(() => (concepts = undefined))
  return opened
}

/** The words of a text in their order, as a passage holds them; compounds in their parts. */
export const wordsInOrder = (text: string): string[] =>
  (text.normalize('NFKC').match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).flatMap((part) => wordsOf(part)[0] ?? [])

/** Without stop words, unless there are only those ("to let"). */
export function tellingWords(text: string, language: string): string[] {
  const words = wordsInOrder(text)
  const telling = words.filter((word) => !isStopWord(word, [language]))
  return telling.length > 0 ? telling : words
}

export interface ConceptColumn {
  /** Concepts of an entry, by its stems joined by blanks, or by its `wordKey`. */
  readonly conceptsOf: ReadonlyMap<string, readonly Concept[]>
  /** Concepts of a single word as it is written, which may be the first part of a compound. */
  readonly written: ReadonlyMap<string, readonly Concept[]>
  readonly longest: number
}

const columns = new Map<Column, Promise<ConceptColumn>>()

export function openColumn(scope: Scope, column: Column): Promise<ConceptColumn> {
  const known = columns.get(column)
  if (known) return known
  const opened = indexColumn(scope, column)
  columns.set(column, opened)
  opened.catch(() => columns.delete(column))
  return opened
}

async function indexColumn(scope: Scope, column: Column): Promise<ConceptColumn> {
  const entries = (await openConcepts()).flatMap((concept) =>
    (concept.get(column) ?? []).map((entry) => ({ entry, concept })),
  )
  const conceptsOf = new Map<string, Concept[]>()
  const written = new Map<string, Concept[]>()
  const add = (map: Map<string, Concept[]>, key: string, concept: Concept) => {
    const known = map.get(key)
    if (!known) map.set(key, [concept])
    else if (!known.includes(concept)) known.push(concept)
  }
  const [language] = STEMMERS[column]
  if (language === undefined) {
    for (const { entry, concept } of entries) add(conceptsOf, wordKey(entry), concept)
    return { conceptsOf, written, longest: Math.max(...[...conceptsOf.keys()].map(({ length }) => length), 1) }
  }
  const split = entries.map(({ entry, concept }) => ({ words: tellingWords(entry, language), concept }))
  const stems = await stemByLanguage(scope, new Set(split.flatMap(({ words }) => words)), [language])
  for (const { words, concept } of split) {
    add(conceptsOf, words.map((word) => stems.get(word)?.get(language) ?? word).join(' '), concept)
    const [only] = words
    if (only !== undefined && words.length === 1) add(written, foldAccents(only), concept)
  }
  return { conceptsOf, written, longest: Math.max(...split.map(({ words }) => words.length), 1) }
}
