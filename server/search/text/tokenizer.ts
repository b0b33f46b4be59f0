/**
 * The one way from text to words, for passages and for questions. Stems are added by stem.ts. Any change that yields
 * other terms needs a new TOKENIZER_VERSION: documents are then indexed anew in the background.
 */

export const TOKENIZER_VERSION = '5'

/** Scripts written without blanks between words that are searched by pairs of characters, which need no dictionary. */
const PAIRED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々`
/** Scripts without blanks for which the runtime has dictionaries. */
const SEGMENTED = String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`

/** A run of word characters, with the marks that hold codes, numbers and compounds together. */
const RUN = /[\p{L}\p{N}\p{M}]+(?:[-‐‑/._:@#+&'’·,\u00ad][\p{L}\p{N}\p{M}]+)*/gu
const PART = /[\p{L}\p{N}\p{M}]+/gu
const PAIRED_RUN = new RegExp(`[${PAIRED}]+`, 'gu')
const PAIR = new RegExp(`^[${PAIRED}]{1,2}$`, 'u')
const HAS_PAIRED = new RegExp(`[${PAIRED}]`, 'u')
const HAS_SEGMENTED = new RegExp(`[${SEGMENTED}]`, 'u')
const RIGHT_TO_LEFT = String.raw`\p{Script=Arabic}\p{Script=Hebrew}`
const HAS_RIGHT_TO_LEFT = new RegExp(`[${RIGHT_TO_LEFT}]`, 'u')
/** Where the direction changes, a blank is often left out, or lies on the other side of the word. */
const CHANGE_OF_DIRECTION = new RegExp(
  String.raw`(?<=[${RIGHT_TO_LEFT}])(?=\p{Script=Latin})|(?<=\p{Script=Latin})(?=[${RIGHT_TO_LEFT}])`,
  'u',
)
/** A word may go on in the next line; where it does not, one pair too many is found by nobody. */
const PAIRED_LINE_END = new RegExp(String.raw`([${PAIRED}])[^\S\n]*\n[^\S\n]*(?=[${PAIRED}])`, 'gu')
const HYPHENATED_LINE_END = /(?<=\p{L})[-‐\u00ad]\s*\n\s*(?=\p{Ll})/gu
const DIRECTION_MARKS = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
/** Vowel signs and lengthening of Arabic, points of Hebrew: written or left out at will. */
const OPTIONAL_MARKS = /[\u0610-\u061a\u0640\u064b-\u0652\u0670\u0591-\u05c7]/g
const ACCENTS = /[\u0300-\u036f]/g
/** Most words of many languages: nothing to fold. */
const PLAIN = /^[a-z0-9]*$/
const LONGEST_WORD = 64

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/**
 * Splits a text to words: lower case, compatibility forms made plain. Codes and compounds ("GDPR-2016/679", "e-mail")
 * give their parts and the whole without its marks; Chinese, Japanese and Korean give pairs of characters.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  const plain = text
    // As a compound: the hyphen may be the word's own ("blue-green") or the line's.
    .replaceAll(HYPHENATED_LINE_END, '-')
    .normalize('NFKC')
    .replaceAll(DIRECTION_MARKS, '')
    .replaceAll(OPTIONAL_MARKS, '')
    .toLowerCase()
  const joined = HAS_PAIRED.test(plain) ? plain.replaceAll(PAIRED_LINE_END, '$1') : plain
  for (const [run] of joined.matchAll(RUN)) {
    const parts = run.match(PART) ?? []
    for (const part of parts) addPart(words, part)
    if (parts.length > 1 && isCompound(run, parts)) words.push(parts.join('').slice(0, LONGEST_WORD))
  }
  return words
}

function addPart(words: string[], part: string): void {
  if (HAS_PAIRED.test(part)) addPairs(words, part)
  else if (HAS_SEGMENTED.test(part)) {
    for (const { segment, isWordLike } of segmenter.segment(part)) if (isWordLike === true) words.push(segment)
  } else if (HAS_RIGHT_TO_LEFT.test(part)) {
    for (const word of part.split(CHANGE_OF_DIRECTION)) words.push(word.slice(0, LONGEST_WORD))
  } else words.push(part.slice(0, LONGEST_WORD))
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
  }
  if (after < part.length) words.push(part.slice(after))
}

/** Whether a word is a pair of characters, or a single one, of a script that is searched by them. */
export const isPair = (word: string): boolean => PAIR.test(word)

/** A sentence without a blank after its full stop is no compound; a code, a number or a hyphenated word is. */
function isCompound(run: string, parts: readonly string[]): boolean {
  if (parts.length > 8 || HAS_PAIRED.test(run)) return false
  if (/\p{N}/u.test(run)) return true
  return /^[^.,:/]+$/u.test(run)
}

/** Takes the accents off a stem: é and e, ё and е are the same word to whoever asks. */
export const foldAccents = (word: string): string =>
  PLAIN.test(word) ? word : word.normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC')
