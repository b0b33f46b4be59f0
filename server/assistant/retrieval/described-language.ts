/** Documents that a question names by their language: "the Polish article", "im koreanischen Gesetz". */
import { languageOf } from '#server/assistant/extractive/text-language.ts'
import type { Scope } from '#server/database/scope.ts'
import { readOpeningsOfLanguages } from '#server/search/documents-in-language.ts'
import { NO_LANGUAGE } from '#server/search/text/detect-language.ts'
import { foldAccents } from '#server/search/text/tokenizer.ts'

/** By English name, as `languageOf` gives it. */
const CODES: Readonly<Record<string, string>> = {
  arabic: 'ar',
  catalan: 'ca',
  chinese: 'zh',
  danish: 'da',
  dutch: 'nl',
  english: 'en',
  finnish: 'fi',
  french: 'fr',
  german: 'de',
  greek: 'el',
  hebrew: 'he',
  hindi: 'hi',
  hungarian: 'hu',
  indonesian: 'id',
  italian: 'it',
  japanese: 'ja',
  korean: 'ko',
  norwegian: 'nb',
  persian: 'fa',
  polish: 'pl',
  portuguese: 'pt',
  romanian: 'ro',
  russian: 'ru',
  spanish: 'es',
  swedish: 'sv',
  thai: 'th',
  turkish: 'tr',
}
/** Nations whose documents are in the language of another name. */
const NATIONS: Readonly<Record<string, string>> = {
  Iranian: 'persian',
  Farsi: 'persian',
  Brazilian: 'portuguese',
  Mexican: 'spanish',
  Chilean: 'spanish',
  Argentinian: 'spanish',
  Colombian: 'spanish',
  Peruvian: 'spanish',
  Austrian: 'german',
  Taiwanese: 'chinese',
  Egyptian: 'arabic',
  Saudi: 'arabic',
  Moroccan: 'arabic',
}
const ASKED_IN = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'nb', 'da', 'pl', 'ru', 'ar']
const ASKED_IN_PAIRS = ['ja', 'zh', 'ko']
const MIN_LETTERS = 5

interface LanguageName {
  readonly language: string
  /** Capitalised in English, where "polish" is a verb. */
  readonly whole: ReadonlySet<string>
  /** Adjectives take endings: "koreanischen". */
  readonly beginnings: readonly string[]
  /** Short names with each ending: "ruso", "rusa". */
  readonly short: ReadonlySet<string>
  readonly inside: readonly string[]
}

const nameIn = (locale: string, code: string): string =>
  new Intl.DisplayNames([locale], { type: 'language' }).of(code) ?? code

const beginningOf = (name: string): string =>
  /\p{Script=Cyrillic}/u.test(name) ? name.slice(0, -2) : name.replace(/[aeiou]$/u, '')

function beginningsIn(code: string): Pick<LanguageName, 'beginnings' | 'short'> {
  const all = ASKED_IN.map((locale) => beginningOf(foldAccents(nameIn(locale, code).toLowerCase())))
  const isLong = (name: string) => name.length >= MIN_LETTERS
  return {
    beginnings: all.filter(isLong),
    short: new Set(all.filter((name) => !isLong(name)).flatMap((name) => [`${name}o`, `${name}a`, `${name}e`])),
  }
}

let names: readonly LanguageName[] | undefined

function openNames(): readonly LanguageName[] {
  names ??= Object.entries(CODES).map(([language, code]) => ({
    language,
    whole: new Set([
      nameIn('en', code),
      ...Object.entries(NATIONS).flatMap(([nation, ofNation]) => (ofNation === language ? [nation] : [])),
    ]),
    ...beginningsIn(code),
    inside: ASKED_IN_PAIRS.map((locale) => nameIn(locale, code).replace(/[語语文어]$/u, '')).filter(
      (name) => name.length > 1,
    ),
  }))
  return names
}

/** @returns English names of the languages that a question names */
export function namedLanguages(question: string): string[] {
  const words = question.match(/[\p{L}\p{M}]+/gu) ?? []
  const folded = words.map((word) => foldAccents(word.toLowerCase()))
  return openNames()
    .filter(
      ({ whole, beginnings, short, inside }) =>
        words.some((word) => whole.has(word)) ||
        folded.some((word) => short.has(word)) ||
        folded.some((word) => beginnings.some((name) => word.startsWith(name) && word.length <= name.length + 3)) ||
        inside.some((name) => question.includes(name)),
    )
    .map(({ language }) => language)
}

/** Persian is written in Arabic letters and four of its own. */
const languageOfDocument = (text: string): string | undefined => {
  const language = languageOf(text)
  return language === 'arabic' && /[پچژگ]/u.test(text) ? 'persian' : language
}

/** Documents of a language in more than this share of a library are no answer to "the Polish article". */
const MAX_SHARE = 0.5

/** Ids of the documents in the languages that a question names, where those are few of the library. Runs as the person. */
export async function findDescribedDocuments(scope: Scope, question: string): Promise<readonly string[]> {
  const languages = namedLanguages(question)
  if (languages.length === 0) return []
  const stemmers = [...languages, NO_LANGUAGE, ...(languages.includes('persian') ? ['arabic'] : [])]
  const { openings, documents } = await readOpeningsOfLanguages(scope, stemmers)
  const described = openings.filter(({ text }) => languages.includes(languageOfDocument(text) ?? ''))
  return described.length <= MAX_SHARE * documents ? described.map(({ documentId }) => documentId) : []
}
