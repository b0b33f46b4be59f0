import { COMMON_WORDS } from './common-words.ts'

const BY_SCRIPT: readonly (readonly [script: RegExp, language: string])[] = [
  [/\p{Script=Arabic}/u, 'arabic'],
  [/\p{Script=Cyrillic}/u, 'russian'],
  [/\p{Script=Greek}/u, 'greek'],
  [/\p{Script=Devanagari}/u, 'hindi'],
  [/\p{Script=Tamil}/u, 'tamil'],
  [/\p{Script=Armenian}/u, 'armenian'],
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

interface LetterCounts {
  readonly letters: number
  readonly latin: number
  /** In the order of `BY_SCRIPT`. */
  readonly byScript: readonly number[]
}

const LETTER = /\p{L}/u
const SCRIPTS = [/\p{Script=Latin}/u, ...BY_SCRIPT.map(([script]) => script)]
/** Kinds of a character: the number of its script, plus this if it is a letter; 0 is not known yet. */
const IS_LETTER = 16
const NO_SCRIPT = 15
const [FIRST_HALF, LAST_HALF] = [0xd800, 0xdfff]
/** Kinds of the characters of the first plane, each looked at once: a pattern for each character of a text takes longer. */
const kinds = new Uint8Array(0x1_00_00)

function kindOf(character: string): number {
  const script = SCRIPTS.findIndex((pattern) => pattern.test(character))
  return (script < 0 ? NO_SCRIPT : script + 1) + (LETTER.test(character) ? IS_LETTER : 0)
}

function countLetters(text: string): LetterCounts {
  const counts = new Array<number>(2 * IS_LETTER).fill(0)
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    let kind = kinds[unit] ?? 0
    if (kind === 0) {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
      kind = kindOf(character)
      if (character.length > 1) at += 1
      // One half tells nothing about others that begin with it.
      else if (unit < FIRST_HALF || unit > LAST_HALF) kinds[unit] = kind
    }
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  const ofScript = (number: number) => (counts[number] ?? 0) + (counts[number + IS_LETTER] ?? 0)
  return {
    letters: counts.slice(IS_LETTER).reduce((sum, count) => sum + count, 0),
    latin: ofScript(1),
    byScript: BY_SCRIPT.map((_, index) => ofScript(index + 2)),
  }
}

/** Latin letters default to English: tables and forms hold too few common words to detect another language. */
export function detectStemmer(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  const counts = countLetters(sample)
  const detected = detectAmong(sample, counts)
  return detected === NO_LANGUAGE && counts.latin > 0.5 * counts.letters ? 'english' : detected
}

export function detectLanguage(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS)
  return detectAmong(sample, countLetters(sample))
}

function detectAmong(sample: string, counts: LetterCounts): string {
  if (counts.letters === 0) return NO_LANGUAGE
  for (const [index, [, language]] of BY_SCRIPT.entries())
    if ((counts.byScript[index] ?? 0) > 0.4 * counts.letters) return language
  return detectByCommonWords(sample, LANGUAGES_OF_WORD, counts)
}

export function detectByCommonWords(
  text: string,
  languagesOfWord: LanguagesOfWord,
  { latin, letters }: LetterCounts = countLetters(text),
): string {
  // A few Latin words in a Chinese text say nothing about it.
  if (latin < 0.5 * letters) return NO_LANGUAGE
  const counts = new Map<string, number>()
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  for (const word of words) {
    for (const language of languagesOfWord.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [best] = [...counts].toSorted(([, left], [, right]) => right - left)
  return best && best[1] >= MIN_COMMON_SHARE * words.length ? best[0] : NO_LANGUAGE
}
