import type { Scope } from '#server/database/scope.ts'
import { NO_LANGUAGE } from './detect-language.ts'
import { regularEnglish } from './irregular-english.ts'
import { createStemCache, type Dictionary } from './stem-cache.ts'
import { foldAccents } from './tokenizer.ts'

const STEMMABLE = /^\p{L}[\p{L}\p{M}]{2,}$/u

export type Terms = ReadonlyMap<string, readonly string[]>

export type Stems = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Stop words stay unchanged, because a search for "the who" means them. */
export async function stemByLanguage(
  scope: Scope,
  words: Iterable<string>,
  languages: readonly string[],
): Promise<Stems> {
  const distinct = new Set(words)
  const { wanted, stemOf } = await readStemsOf(scope, distinct, languages)
  return new Map(
    Array.from(distinct, (word) => [word, new Map(wanted.map((language) => [language, stemOf(word, language)]))]),
  )
}

export async function stemWords(scope: Scope, words: Iterable<string>, languages: readonly string[]): Promise<Terms> {
  const distinct = new Set(words)
  const { wanted, stemOf } = await readStemsOf(scope, distinct, languages)
  const found = new Map<string, string[]>()
  for (const word of distinct) {
    const terms: string[] = []
    // Few of them differ: a set for each of thousands of words would cost more than it saves.
    for (const language of wanted) {
      const term = stemOf(word, language)
      if (!terms.includes(term)) terms.push(term)
    }
    found.set(word, terms)
  }
  return found
}

/** Terms in the order of the words, of which documents have thousands. */
export async function stemInLanguage(scope: Scope, words: readonly string[], language: string): Promise<string[]> {
  const { stemOf } = await readStemsOf(scope, new Set(words), [language])
  return words.map((word) => stemOf(word, language))
}

async function readStemsOf(scope: Scope, distinct: ReadonlySet<string>, languages: readonly string[]) {
  const wanted = languages.length === 0 ? [NO_LANGUAGE] : languages
  const stemmed = new Set([...distinct, ...(wanted.includes('english') ? [...distinct].map(regularEnglish) : [])])
  const stems = await stemsOf(
    scope,
    [...stemmed].filter((word) => STEMMABLE.test(word)),
    wanted.filter((language) => language !== NO_LANGUAGE),
  )
  const stemOf = (word: string, language: string): string => {
    const given = language === 'english' ? regularEnglish(word) : word
    return stems.get(language)?.get(given) ?? foldAccents(given)
  }
  return { wanted, stemOf }
}

/** Without accents. Cached stems save a question a round trip. */
const cachedStems = createStemCache(150_000)

async function stemsOf(
  scope: Scope,
  words: readonly string[],
  languages: readonly string[],
): Promise<ReadonlyMap<string, Dictionary>> {
  const stems = new Map(languages.map((language) => [language, cachedStems.get(language)]))
  const missing = [...stems].filter(([, known]) => words.some((word) => !known.has(word)))
  if (missing.length === 0) return stems
  const unknown = words.filter((word) => missing.some(([, known]) => !known.has(word)))
  const read = await readStems(
    scope,
    unknown,
    missing.map(([language]) => language),
  )
  for (const [language, before] of missing) {
    // Older servers have fewer dictionaries and return no row for the others.
    const found = read.get(language)
    const terms = unknown.map((word, index) => foldAccents(found?.[index] ?? word))
    stems.set(language, cachedStems.add(language, unknown, terms, { words, before }))
  }
  return stems
}

/** By language, in the order of the words; null for stop words. One row for each language: a question has thousands of stems. */
async function readStems(
  scope: Scope,
  words: readonly string[],
  languages: readonly string[],
): Promise<ReadonlyMap<string, readonly (string | null)[]>> {
  const { rows } = await scope.prepared<{ language: string; stems: (string | null)[] }>(
    `select replace(d.dictname, '_stem', '') as language,
       (select json_agg((ts_lexize(d.oid::regdictionary, word))[1] order by nth)
        from unnest($1::text[]) with ordinality as given (word, nth)) as stems
     from pg_catalog.pg_ts_dict d where d.dictname = any ($2) and d.dictnamespace = 'pg_catalog'::regnamespace`,
    [words, languages.map((language) => `${language}_stem`)],
  )
  return new Map(rows.map(({ language, stems }) => [language, stems]))
}
