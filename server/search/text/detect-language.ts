import { COMMON_WORDS } from './common-words.ts'

const BY_SCRIPT: readonly (readonly [script: RegExp, language: string])[] = [
  [/\p{Script=Arabic}/gu, 'arabic'],
  [/\p{Script=Cyrillic}/gu, 'russian'],
  [/\p{Script=Greek}/gu, 'greek'],
  [/\p{Script=Devanagari}/gu, 'hindi'],
  [/\p{Script=Tamil}/gu, 'tamil'],
  [/\p{Script=Armenian}/gu, 'armenian'],
]

export type LanguagesOfWord = ReadonlyMap<string, readonly string[]>

export function languagesByWord(commonWords: Readonly<Record<string, string>>): LanguagesOfWord {
  const languages = new Map<string, string[]>()
  for (const [language, words] of Object.entries(commonWords)) {
    for (const word of new Set(words.split(' '))) languages.set(word, [...(languages.get(word) ?? []), language])
  }
  return languages
}

const LANGUAGES_OF_WORD = languagesByWord(COMMON_WORDS)

export const NO_LANGUAGE = 'simple'
const SAMPLE_CHARACTERS = 20_000
const MIN_COMMON_SHARE = 0.06

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Latin letters default to English: tables and forms hold too few common words to detect another language. */
export function detectStemmer(text: string): string {
  const detected = detectLanguage(text)
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  return detected === NO_LANGUAGE && countMatches(sample, /\p{Script=Latin}/gu) > 0.5 * countMatches(sample, /\p{L}/gu)
    ? 'english'
    : detected
}

export function detectLanguage(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  const letters = countMatches(sample, /\p{L}/gu)
  if (letters === 0) return NO_LANGUAGE
  for (const [script, language] of BY_SCRIPT) {
    if (countMatches(sample, script) > 0.4 * letters) return language
  }
  return detectByCommonWords(sample, LANGUAGES_OF_WORD)
}

export function detectByCommonWords(text: string, languagesOfWord: LanguagesOfWord): string {
  // A few Latin words in a Chinese text say nothing about it.
  if (countMatches(text, /\p{Script=Latin}/gu) < 0.5 * countMatches(text, /\p{L}/gu)) return NO_LANGUAGE
  const counts = new Map<string, number>()
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  for (const word of words) {
    for (const language of languagesOfWord.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [best] = [...counts].toSorted(([, left], [, right]) => right - left)
  return best && best[1] >= MIN_COMMON_SHARE * words.length ? best[0] : NO_LANGUAGE
}
