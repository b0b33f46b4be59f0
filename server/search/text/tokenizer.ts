import japaneseCharacters from 'opencc-js/dict/JPShinjitaiCharacters'
import traditionalCharacters from 'opencc-js/dict/TSCharacters'
import { hanNumbers, replaceHanNumerals } from './read-han-numerals.ts'
import { writtenForms } from './written-forms.ts'

/** A change that yields other terms needs a new TOKENIZER_VERSION, which indexes documents again. */

export const TOKENIZER_VERSION = '7'

/** Scripts without blanks between words, searched by character pairs, which need no dictionary. */
const PAIRED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々`
/** Scripts without blanks for which the runtime has dictionaries. */
export const SEGMENTED = String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`

const RUN = /[\p{L}\p{N}\p{M}]+(?:[-‐‑/._:@#+&'’·,\u00ad][\p{L}\p{N}\p{M}]+)*/gu
const PART = /[\p{L}\p{N}\p{M}]+/gu
const PAIRED_RUN = new RegExp(`[${PAIRED}]+`, 'gu')
const PAIR = new RegExp(`^[${PAIRED}]{1,2}$`, 'u')
const HAS_PAIRED = new RegExp(`[${PAIRED}]`, 'u')
const HAN = /[\p{Script=Han}々]/u
const HAS_HIRAGANA = /\p{Script=Hiragana}/u
const HAS_SEGMENTED = new RegExp(`[${SEGMENTED}]`, 'u')
const RIGHT_TO_LEFT = String.raw`\p{Script=Arabic}\p{Script=Hebrew}`
const HAS_RIGHT_TO_LEFT = new RegExp(`[${RIGHT_TO_LEFT}]`, 'u')
/** At a change of direction, the blank is often missing or on the other side of the word. */
const CHANGE_OF_DIRECTION = new RegExp(
  String.raw`(?<=[${RIGHT_TO_LEFT}])(?=\p{Script=Latin})|(?<=\p{Script=Latin})(?=[${RIGHT_TO_LEFT}])`,
  'u',
)
/** A word may continue on the next line. If it does not, the additional pair does no harm. */
const PAIRED_LINE_END = new RegExp(String.raw`([${PAIRED}])[^\S\n]*\n[^\S\n]*(?=[${PAIRED}])`, 'gu')
const HYPHENATED_LINE_END = /(?<=\p{L})[-‐\u00ad][^\S\n]*\n\s*(?=\p{Ll})/gu
const DIRECTION_MARKS = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
/** Optional in writing: vowel signs and lengthening of Arabic, points of Hebrew. */
const OPTIONAL_MARKS = /[\u0610-\u061a\u0640\u064b-\u0652\u0670\u0591-\u05c7]/g
/** The small letter of the Turkish İ is written with an additional dot. */
const DOTTED_I = /i\u0307/g
const HAS_CAMEL_CASE = /[a-z][A-Z]/
const CAMEL_CASE = /\b[A-Za-z0-9]+\b/g
const CAMEL_CASE_BORDER = /(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
const ACCENTS = /[\u0300-\u036f]/g
const PLAIN = /^[a-z0-9]*$/
const MAX_WORD_LENGTH = 64
const HAN_DATE_OR_TIME = /[一二三四五六七八九十](?:月|[時时點点])/

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/**
 * Lower case and NFKC, simplified characters for traditional and Japanese ones. Compounds ("e-mail", "maxUploadSize")
 * yield their parts too; Chinese, Japanese and Korean yield pairs, a character between kana also itself, and numerals
 * (三十) their digits; telephone numbers, dates and times a term for all their forms.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  const written = text
    // A compound, because the hyphen may belong to the word ("blue-green") or to the line break.
    .replaceAll(HYPHENATED_LINE_END, '-')
    .normalize('NFKC')
    .replaceAll(DIRECTION_MARKS, '')
    .replaceAll(OPTIONAL_MARKS, '')
  const plain = written.toLowerCase().replaceAll(DOTTED_I, 'i')
  const joined = HAS_PAIRED.test(plain) ? toSimplified(plain.replaceAll(PAIRED_LINE_END, '$1')) : plain
  for (const [run] of joined.matchAll(RUN)) {
    const parts = run.match(PART) ?? []
    for (const part of parts) addPart(words, part)
    if (parts.length > 1 && isCompound(run, parts)) words.push(parts.join('').slice(0, MAX_WORD_LENGTH))
  }
  if (HAS_CAMEL_CASE.test(written))
    for (const [word] of written.matchAll(CAMEL_CASE))
      if (HAS_CAMEL_CASE.test(word)) words.push(...camelCaseParts(word))
  if (HAS_PAIRED.test(plain)) words.push(...hanNumbers(joined))
  words.push(...writtenForms(HAN_DATE_OR_TIME.test(plain) ? replaceHanNumerals(plain) : plain))
  return words
}

/** Names of programs: "maxUploadSize", "HttpRetryPolicy", "parseHTMLPage". Names such as "mRNA" and "PhD" stay whole. */
function camelCaseParts(word: string): string[] {
  const parts = word.split(CAMEL_CASE_BORDER)
  return parts.every((part) => part.length > 1) ? parts.map((part) => part.toLowerCase().slice(0, MAX_WORD_LENGTH)) : []
}

/** By UTF-16 code unit; 0 for characters without a simplified one. Rare characters beyond the first plane are omitted. */
const simplifiedUnits = new Uint16Array(0x1_00_00)
for (const [traditional, simplified] of unitPairs(traditionalCharacters)) simplifiedUnits[traditional] = simplified
for (const [japanese, traditional] of unitPairs(japaneseCharacters)) {
  const simplified = simplifiedUnits[traditional] || traditional
  if (simplified !== japanese && simplifiedUnits[japanese] === 0) simplifiedUnits[japanese] = simplified
}
// A few are both: 芸 is the Japanese form of 藝 and the simplified one of 蕓. All of them count as one.
for (const [unit, simplified] of simplifiedUnits.entries())
  if (simplified !== 0) simplifiedUnits[unit] = simplifiedUnits[simplified] || simplified

function* unitPairs(dictionary: string): Generator<[from: number, to: number]> {
  for (const pair of dictionary.split('|')) {
    const [from = '', to = ''] = pair.split(' ')
    if (from.length === 1 && to.length === 1) yield [from.charCodeAt(0), to.charCodeAt(0)]
  }
}

/** Simplified characters for traditional and Japanese ones. */
export function toSimplified(text: string): string {
  let simplified = ''
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = simplifiedUnits[text.charCodeAt(at)] ?? 0
    if (unit === 0) continue
    simplified += text.slice(from, at) + String.fromCharCode(unit)
    from = at + 1
  }
  return from === 0 ? text : simplified + text.slice(from)
}

function addPart(words: string[], part: string): void {
  if (HAS_PAIRED.test(part)) addPairs(words, part)
  else if (HAS_SEGMENTED.test(part)) {
    for (const { segment, isWordLike } of segmenter.segment(part)) if (isWordLike === true) words.push(segment)
  } else if (HAS_RIGHT_TO_LEFT.test(part)) {
    for (const word of part.split(CHANGE_OF_DIRECTION)) words.push(word.slice(0, MAX_WORD_LENGTH))
  } else words.push(part.slice(0, MAX_WORD_LENGTH))
}

function addPairs(words: string[], part: string): void {
  let after = 0
  for (const match of part.matchAll(PAIRED_RUN)) {
    if (match.index > after) words.push(part.slice(after, match.index))
    after = match.index + match[0].length
    const characters = Array.from(match[0])
    if (characters.length === 1) words.push(match[0])
    for (let index = 0; index + 1 < characters.length; index += 1)
      words.push(`${characters[index] ?? ''}${characters[index + 1] ?? ''}`)
    if (HAS_HIRAGANA.test(match[0])) addHanBetweenKana(words, characters)
  }
  if (after < part.length) words.push(part.slice(after))
}

/** A noun (父は) or the unchanging part of a verb, whose endings differ between question and answer (落とす, 落ちる). */
function addHanBetweenKana(words: string[], characters: readonly string[]): void {
  for (const [index, character] of characters.entries()) {
    const [before = '', after = ''] = [characters[index - 1], characters[index + 1]]
    const isBetween = HAS_HIRAGANA.test(before) || HAS_HIRAGANA.test(after)
    if (isBetween && HAN.test(character) && !HAN.test(before) && !HAN.test(after)) words.push(character)
  }
}

export const isPair = (word: string): boolean => PAIR.test(word)

function isCompound(run: string, parts: readonly string[]): boolean {
  if (parts.length > 8 || HAS_PAIRED.test(run)) return false
  if (/\p{N}/u.test(run)) return true
  return /^[^.,:/]+$/u.test(run)
}

/** Letters that NFKD does not take apart, as they are written without a keyboard for them. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ß: 'ss',
  ı: 'i',
  ħ: 'h',
}
const HAS_LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')

export const foldAccents = (word: string): string =>
  PLAIN.test(word)
    ? word
    : word
        .normalize('NFKD')
        .replaceAll(ACCENTS, '')
        .normalize('NFC')
        .replaceAll(HAS_LETTER, (letter) => LETTERS[letter] ?? letter)
