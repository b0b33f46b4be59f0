import { type Scope } from '#server/database/scope.ts'
import { NO_LANGUAGE } from './language.ts'
import { foldAccents } from './tokenizer.ts'

/** What is stemmed at all: words of letters. Codes and numbers are searched as they are written. */
const STEMMABLE = /^\p{L}[\p{L}\p{M}]{2,}$/u

/** Word to the terms that it is stored or searched under, one per language given. */
export type Terms = ReadonlyMap<string, readonly string[]>

/**
 * Stems words with PostgreSQL's Snowball dictionaries, whoever asks, so that passages and questions cannot differ. A
 * stop word of the dictionary is kept as it is: whoever searches for "the who" means it.
 */
export async function stemWords(scope: Scope, words: Iterable<string>, languages: readonly string[]): Promise<Terms> {
  const distinct = [...new Set(words)]
  const stems = await stemsByWord(
    scope,
    distinct,
    languages.filter((language) => language !== NO_LANGUAGE),
  )
  const isAlsoPlain = languages.length === 0 || languages.includes(NO_LANGUAGE)
  return new Map(
    distinct.map((word) => {
      const known = stems.get(word) ?? []
      const terms = isAlsoPlain || known.length === 0 ? [word, ...known] : known
      return [word, [...new Set(terms.map(foldAccents))]]
    }),
  )
}

/**
 * Stems that have been asked for, by dictionary: they depend on nothing but the word, and a question waits for each round
 * trip. Dropped as a whole when there are too many, which costs one statement.
 */
const known = new Map<string, Map<string, string>>()
const MOST_KNOWN = 50_000

async function stemsByWord(
  scope: Scope,
  words: readonly string[],
  languages: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const stems = new Map<string, string[]>()
  const stemmable = words.filter((word) => STEMMABLE.test(word))
  const missing = languages.filter((language) => stemmable.some((word) => !known.get(language)?.has(word)))
  if (missing.length > 0) await readStems(scope, stemmable, missing)
  for (const word of stemmable) {
    const found = languages.flatMap((language) => known.get(language)?.get(word) ?? [])
    if (found.length > 0) stems.set(word, found)
  }
  return stems
}

async function readStems(scope: Scope, words: readonly string[], languages: readonly string[]): Promise<void> {
  // Older servers know fewer languages: no dictionary, no row, and the words stay as they are.
  const found = await scope.prepared<{ language: string; word: string; stem: string | null }>(
    `select replace(d.dictname, '_stem', '') as language, word, (ts_lexize(d.oid::regdictionary, word))[1] as stem
     from pg_catalog.pg_ts_dict d cross join unnest($1::text[]) as word
     where d.dictname = any ($2) and d.dictnamespace = 'pg_catalog'::regnamespace`,
    [words, languages.map((language) => `${language}_stem`)],
  )
  for (const [language, rows] of Map.groupBy(found.rows, (row) => row.language)) {
    const stored = known.get(language)
    const stems = stored && stored.size + rows.length <= MOST_KNOWN ? stored : new Map<string, string>()
    for (const { word, stem } of rows) stems.set(word, stem ?? word)
    known.set(language, stems)
  }
}
