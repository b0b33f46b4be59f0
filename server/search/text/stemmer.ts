import { type Scope } from '#server/database/scope.ts'
import { NO_LANGUAGE } from './detect-language.ts'
import { regularEnglish } from './irregular-english.ts'
import { foldAccents } from './tokenizer.ts'

/** What is stemmed at all: words of letters. Codes and numbers are searched as they are written. */
const STEMMABLE = /^\p{L}[\p{L}\p{M}]{2,}$/u

/** Word to the terms that it is stored or searched under, one per language given. */
export type Terms = ReadonlyMap<string, readonly string[]>

/** Word to the term of each language given. */
export type Stems = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * Stems words with PostgreSQL's Snowball dictionaries, whoever asks, so that passages and questions cannot differ. A
 * stop word of the dictionary is kept as it is: whoever searches for "the who" means it. So is every word of a language that
 * has no dictionary, and where no language is given.
 */
export async function stemByLanguage(
  scope: Scope,
  words: Iterable<string>,
  languages: readonly string[],
): Promise<Stems> {
  const distinct = [...new Set(words)]
  const wanted = languages.length === 0 ? [NO_LANGUAGE] : languages
  const stemmed = wanted.includes('english') ? new Set([...distinct, ...distinct.map(regularEnglish)]) : distinct
  const stems = await stemsOf(
    scope,
    [...stemmed].filter((word) => STEMMABLE.test(word)),
    wanted.filter((language) => language !== NO_LANGUAGE),
  )
  return new Map(
    distinct.map((word) => [
      word,
      new Map(
        wanted.map((language) => {
          const given = language === 'english' ? regularEnglish(word) : word
          return [language, foldAccents(stems.get(language)?.get(given) ?? given)]
        }),
      ),
    ]),
  )
}

/** The same, each term once. */
export async function stemWords(scope: Scope, words: Iterable<string>, languages: readonly string[]): Promise<Terms> {
  const stems = await stemByLanguage(scope, words, languages)
  return new Map([...stems].map(([word, terms]) => [word, [...new Set(terms.values())]]))
}

type Dictionary = Map<string, string>

/**
 * Stems that have been asked for, by language: they depend on nothing but the word, and a question waits for each round
 * trip. Dropped as a whole when there are too many, which costs one statement.
 */
const known = new Map<string, Dictionary>()
const MOST_KNOWN = 50_000

/** For each language a dictionary that holds all of these words. */
async function stemsOf(
  scope: Scope,
  words: readonly string[],
  languages: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const stems = new Map(languages.map((language) => [language, known.get(language) ?? new Map<string, string>()]))
  const missing = languages.filter((language) => words.some((word) => !stems.get(language)?.has(word)))
  if (missing.length === 0) return stems
  const read = await readStems(scope, words, missing)
  for (const language of missing) {
    // Older servers know fewer languages: no dictionary, no row, and the words stay as they are.
    const found = read.get(language) ?? words.map((word) => ({ word, stem: word }))
    const before = known.get(language)
    const dictionary = before && before.size + found.length <= MOST_KNOWN ? before : new Map<string, string>()
    for (const { word, stem } of found) dictionary.set(word, stem ?? word)
    known.set(language, dictionary)
    // What was asked and known before may just have been dropped.
    stems.set(language, dictionary)
  }
  return stems
}

async function readStems(scope: Scope, words: readonly string[], languages: readonly string[]) {
  const { rows } = await scope.prepared<{ language: string; word: string; stem: string | null }>(
    `select replace(d.dictname, '_stem', '') as language, word, (ts_lexize(d.oid::regdictionary, word))[1] as stem
     from pg_catalog.pg_ts_dict d cross join unnest($1::text[]) as word
     where d.dictname = any ($2) and d.dictnamespace = 'pg_catalog'::regnamespace`,
    [words, languages.map((language) => `${language}_stem`)],
  )
  return Map.groupBy(rows, ({ language }) => language)
}
