/** Text of made-up words: equal in every run, and unlike any language's stop words. */

/** Park and Miller. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

const WORDS = 20_000
const SYLLABLES = Array.from('bdfghklmnprstv', (consonant) => Array.from('aeiou', (vowel) => consonant + vowel)).flat()
/** Coprime to the number of words of three syllables, so that no word comes twice. */
const STEP = 7_919

/** @param rank 0 for the most frequent word */
function wordOf(rank: number): string {
  const count = SYLLABLES.length
  const number = ((rank + 1) * STEP) % count ** 3
  return [count ** 2, count, 1].map((unit) => SYLLABLES[Math.floor(number / unit) % count]).join('')
}

/** Zipf-like: the first words are common, the last ones rare. */
export const anyWord = (random: (below: number) => number): string =>
  wordOf(Math.floor(WORDS * (random(WORDS) / WORDS) ** 3))

export function makeText(random: (below: number) => number, characters: number): string {
  let text = ''
  while (text.length < characters) text += `${anyWord(random)} `
  return text.slice(0, characters).trim()
}
