const ACCENTS = /[\u0300-\u036f]/g

const fold = (text: string): string => text.normalize('NFKD').toLowerCase().replaceAll(ACCENTS, '')

/** How well a text fits what is typed: 0 where a word is missing, more the nearer the words are to beginnings. */
export function matchScore(text: string, search: string): number {
  const words = fold(search).split(/\s+/).filter(Boolean)
  const folded = fold(text)
  if (!words.every((word) => folded.includes(word))) return 0
  if (folded.startsWith(words.join(' '))) return 3
  return words.every((word) => folded.startsWith(word) || folded.includes(` ${word}`)) ? 2 : 1
}

/** Those that fit, best first; equally good ones stay in their order. */
export function sortByMatch<T>(entries: readonly T[], textOf: (entry: T) => string, search: string): T[] {
  return entries
    .map((entry) => ({ entry, fit: matchScore(textOf(entry), search) }))
    .filter(({ fit }) => fit > 0)
    .toSorted((one, other) => other.fit - one.fit)
    .map(({ entry }) => entry)
}
