import { COMMON_WORDS } from './common-words.ts'
import { detectLanguage, NO_LANGUAGE } from './detect-language.ts'
import { isStopWord } from './stop-words.ts'

const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'japanese'],
  [/\p{Script=Hangul}/gu, 'korean'],
  [/\p{Script=Han}/gu, 'chinese'],
  [/\p{Script=Hebrew}/gu, 'hebrew'],
  [/\p{Script=Thai}/gu, 'thai'],
]
/** Japanese mixes kana with Chinese characters, and every language writes some names in Latin letters. */
const MIN_SHARE = 0.15

/** @returns the English name of the language, in lower case; undefined where a table or a few names say nothing */
export function languageOf(text: string): string | undefined {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  for (const [script, language] of SCRIPTS) {
    if ((text.match(script)?.length ?? 0) > MIN_SHARE * letters) return language
  }
  const detected = detectLanguage(text)
  return detected === NO_LANGUAGE ? undefined : detected
}

const LISTS = new Map(Object.entries(COMMON_WORDS).map(([language, words]) => [language, new Set(words.split(' '))]))

const countCommon = (words: readonly string[], language: string): number =>
  words.filter((word) => LISTS.get(language)?.has(word) === true || isStopWord(word, [language])).length

/** Whether more of the words, in lower case, are common in English than in any other language of Latin letters. */
export function isMostlyEnglish(words: readonly string[]): boolean {
  const others = [...LISTS.keys()].filter((language) => language !== 'english')
  return countCommon(words, 'english') > Math.max(...others.map((language) => countCommon(words, language)))
}

/** Whether a question is in another language than a text. A question is too short to detect its language alone. */
export function isForeignTo(question: string, text: string): boolean {
  const [asked, language] = [languageOf(question), languageOf(text)]
  if (language === undefined) return false
  if (!LISTS.has(language) || (asked !== undefined && !LISTS.has(asked)))
    return asked !== undefined && asked !== language
  const words = question.toLowerCase().match(/\p{L}+/gu) ?? []
  return Math.max(...[...LISTS.keys()].map((name) => countCommon(words, name))) > 2 * countCommon(words, language)
}
