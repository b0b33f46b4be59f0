/** Detects text of fonts with a broken character map. */

export interface FontSample {
  readonly str: string
  readonly fontName: string
}

const VOWELS = /[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ]/giu
const LATIN = /\p{Script=Latin}/gu
/** Controls, private use, the replacement character. */
const IMPOSSIBLE = /[\u0001-\u0008\u000b\u000e-\u001f\u007f-\u009f\ue000-\uf8ff\ufffd]/g
const MAX_IMPOSSIBLE_SHARE = 0.04
/** About 40 % of the letters are vowels in every language with Latin letters. */
const MIN_VOWEL_SHARE = 0.22
const MIN_LETTERS = 120
const MAX_GARBLED_SHARE = 0.25

const BLACKED_OUT = /(\p{L})\1{2,}/gu

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

function isGarbled(text: string): boolean {
  const characters = countMatches(text, /\S/g)
  if (characters === 0) return false
  if (countMatches(text, IMPOSSIBLE) > MAX_IMPOSSIBLE_SHARE * characters) return true
  const words = text.replaceAll(BLACKED_OUT, '')
  const letters = countMatches(words, LATIN)
  return letters >= MIN_LETTERS && countMatches(words, VOWELS) < MIN_VOWEL_SHARE * letters
}

/** Checks each font, since each has its own map. */
export function isGarbledPage(samples: readonly FontSample[]): boolean {
  const byFont = new Map<string, string>()
  for (const { str, fontName } of samples) byFont.set(fontName, (byFont.get(fontName) ?? '') + str)
  let garbled = 0
  let all = 0
  for (const text of byFont.values()) {
    const characters = countMatches(text, /\S/g)
    all += characters
    if (isGarbled(text)) garbled += characters
  }
  return garbled > MAX_GARBLED_SHARE * all
}
