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
  const distinct = new Set(words)
  const { wanted, stemOf } = await readStemsOf(scope, distinct, languages)
  return new Map(
    Array.from(distinct, (word) => [word, new Map(wanted.map((language) => [language, stemOf(word, language)]))]),
  )
}

export async function stemWords(scope: Scope, words: Iterable<string>, languages: readonly string[]): Promise<Terms> {
  const distinct = new Set(words)
  const { wanted, stemOf } = await readStemsOf(scope, distinct, languages)
  return new Map(Array.from(distinct, (word) => [word, [...new Set(wanted.map((language) => stemOf(word, language)))]]))
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
    return foldAccents(stems.get(language)?.get(given) ?? given)
  }
  return { wanted, stemOf }
}

/** Cached stems save a question a round trip. */
const cachedStems = createStemCache(150_000)

async function stemsOf(
  scope: Scope,
  words: readonly string[],
  languages: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const stems = new Map(languages.map((language) => [language, cachedStems.get(language)]))
  const unknown = new Map(
    languages.map((language) => [language, words.filter((word) => !stems.get(language)?.has(word))]),
  )
  const missing = languages.filter((language) => unknown.get(language)?.length !== 0)
  if (missing.length === 0) return stems
  const read = await readStems(scope, [...new Set([...unknown.values()].flat())], missing)
  for (const language of missing) {
    const known = stems.get(language)
    // Older servers have fewer dictionaries and return no rows for the others.
    const found = read.get(language) ?? (unknown.get(language) ?? []).map((word) => ({ word, stem: word }))
    // Those that are known too: a full cache drops what it held.
    const held = words.flatMap((word) => {
      const stem = known?.get(word)
      return stem === undefined ? [] : [{ word, stem }]
    })
    stems.set(language, cachedStems.add(language, [...held, ...found]))
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
