import type { Scope } from '#server/database/scope.ts'
import { NO_LANGUAGE } from './detect-language.ts'
import { regularEnglish } from './irregular-english.ts'
import { createStemCache } from './stem-cache.ts'
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

export async function stemWords(scope: Scope, words: Iterable<string>, languages: readonly string[]): Promise<Terms> {
  const stems = await stemByLanguage(scope, words, languages)
  return new Map([...stems].map(([word, terms]) => [word, [...new Set(terms.values())]]))
}

/** Cached stems save a question a round trip. */
const cachedStems = createStemCache(150_000)

async function stemsOf(
  scope: Scope,
  words: readonly string[],
  languages: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const stems = new Map(languages.map((language) => [language, cachedStems.get(language)]))
  const missing = languages.filter((language) => words.some((word) => !stems.get(language)?.has(word)))
  if (missing.length === 0) return stems
  const read = await readStems(scope, words, missing)
  for (const language of missing) {
    // Older servers have fewer dictionaries and return no rows for the others.
    const found = read.get(language) ?? words.map((word) => ({ word, stem: word }))
    stems.set(language, cachedStems.add(language, found))
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
