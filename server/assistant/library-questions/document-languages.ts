/** Names of languages in questions, and the language of a text. Pure. */
import { detectLanguage, NO_LANGUAGE } from '#server/search/text/detect-language.ts'

/** Languages that questions are asked in, and those that documents are written in. */
const ASKED_IN = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'ru', 'sv', 'nb', 'da', 'pl', 'tr', 'ja', 'zh', 'ko', 'ar']
const WRITTEN_IN = `en de fr es it pt nl sv no da fi hu ro tr ca pl id cs ru uk el ar fa hi ta hy he th ja zh ko`.split(
  ' ',
)

const ENGLISH_NAMES = new Intl.DisplayNames('en', { type: 'language' })
export const languageName = (code: string): string => ENGLISH_NAMES.of(code) ?? code

/** Names that people use and the runtime does not list. */
const FURTHER_NAMES: Readonly<Record<string, string>> = {
  zh: 'mandarin|chinesisch|chinois|汉语|漢語|华语|中国語|中國語|中文|중국어',
  ja: '日文|日語',
  en: '英文|英語',
  de: '德文|德語',
  fr: '法文|法語',
  es: '西班牙文|castellano',
  ko: '韩文|韓文|한글|朝鲜语',
  ru: '俄文|俄語',
  ar: '阿拉伯文',
  fa: 'farsi|persisch|persan',
  no: 'norsk',
}

const UNSPACED: ReadonlySet<string> = new Set(['ja', 'zh', 'ko'])
/** Their names do not change with the noun that they describe, or only at the end. */
const UNINFLECTED: ReadonlySet<string> = new Set(['en', 'tr'])

/** "japanisch" also matches "japanischer", "японский" also "японском". */
function nameInEveryForm(name: string, locale: string): string {
  const lower = name.normalize('NFKC').toLowerCase()
  if (UNSPACED.has(locale)) return lower
  if (locale === 'ar') return `[بفلو]?(?:ال)?${lower.replace(/^ال/, '')}`
  if (UNINFLECTED.has(locale)) return `${lower}\\p{L}{0,${locale === 'tr' ? 3 : 0}}`
  const stem = lower.length > 4 ? lower.replace(/[aeiouyаиой]{1,2}$/u, '') : lower
  const withoutAccent = stem.replace(
    /[éêèàáóôíã](?=[^éêèàáóôíã]{0,2}$)/u,
    (accented) => `[${accented}${accented.normalize('NFD').charAt(0)}]`,
  )
  return `${withoutAccent}\\p{L}{0,${locale === 'ru' || locale === 'pl' ? 4 : 3}}`
}

const NAMES: readonly (readonly [code: string, pattern: RegExp])[] = WRITTEN_IN.map((code) => {
  const spaced: string[] = []
  const unspaced: string[] = []
  for (const locale of ASKED_IN) {
    const name = new Intl.DisplayNames(locale, { type: 'language', fallback: 'none' }).of(code)
    if (name === undefined || /[()]/.test(name)) continue
    ;(UNSPACED.has(locale) ? unspaced : spaced).push(nameInEveryForm(name, locale))
  }
  for (const name of FURTHER_NAMES[code]?.split('|') ?? [])
    (/^[\p{Script=Latin}]/u.test(name) ? spaced : unspaced).push(name)
  const words = `(?<![\\p{L}\\p{M}\\p{N}])(?:${spaced.join('|')})(?:sprachige?[nrsm]?)?(?![\\p{L}\\p{M}\\p{N}])`
  return [code, new RegExp([words, ...unspaced].join('|'), 'gu')]
})

/** The language that the words name, and the words without its name. @param text lower case, without punctuation */
export function takeLanguage(text: string): { readonly language: string | undefined; readonly rest: string } {
  for (const [code, pattern] of NAMES) {
    const rest = text.replaceAll(pattern, ' ')
    if (rest !== text) return { language: code, rest }
  }
  return { language: undefined, rest: text }
}

const CODES: Readonly<Record<string, string>> = {
  english: 'en',
  german: 'de',
  french: 'fr',
  spanish: 'es',
  italian: 'it',
  portuguese: 'pt',
  dutch: 'nl',
  swedish: 'sv',
  norwegian: 'no',
  danish: 'da',
  finnish: 'fi',
  hungarian: 'hu',
  romanian: 'ro',
  turkish: 'tr',
  catalan: 'ca',
  polish: 'pl',
  indonesian: 'id',
  greek: 'el',
  hindi: 'hi',
  tamil: 'ta',
  armenian: 'hy',
  arabic: 'ar',
  russian: 'ru',
}

/** Scripts of one language; kana before Chinese characters, which Japanese has too. */
const BY_SCRIPT: readonly (readonly [script: RegExp, code: string, minShare: number])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'ja', 0.1],
  [/\p{Script=Hangul}/gu, 'ko', 0.3],
  [/\p{Script=Han}/gu, 'zh', 0.4],
  [/\p{Script=Hebrew}/gu, 'he', 0.4],
  [/\p{Script=Thai}/gu, 'th', 0.4],
]
/** Letters that a language has and the others of its script have not. */
const PERSIAN_LETTERS = /[پچژگ]/gu
const UKRAINIAN_LETTERS = /[іїєґ]/giu
const MIN_SHARE_OF_OWN_LETTERS = 0.01

/** @returns an ISO 639-1 code, or undefined where the text says too little */
export function languageOfText(text: string): string | undefined {
  const letters = Math.max(1, text.match(/\p{L}/gu)?.length ?? 0)
  const share = (pattern: RegExp) => (text.match(pattern)?.length ?? 0) / letters
  const byScript = BY_SCRIPT.find(([script, , minShare]) => share(script) > minShare)
  if (byScript) return byScript[1]
  const detected = detectLanguage(text)
  if (detected === NO_LANGUAGE) return undefined
  const code = CODES[detected]
  if (code === 'ar' && share(PERSIAN_LETTERS) > MIN_SHARE_OF_OWN_LETTERS) return 'fa'
  if (code === 'ru' && share(UKRAINIAN_LETTERS) > MIN_SHARE_OF_OWN_LETTERS) return 'uk'
  return code
}
