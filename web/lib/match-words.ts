const ACCENTS = /[\u0300-\u036f]/g

const fold = (text: string): string => text.normalize('NFKD').toLowerCase().replaceAll(ACCENTS, '')

/** 3: the text begins with the search; 2: each word begins a word; 1: all words occur; 0: a word is missing. */
export function matchScore(text: string, search: string): number {
  const words = fold(search).split(/\s+/).filter(Boolean)
  const folded = fold(text)
  if (!words.every((word) => folded.includes(word))) return 0
  if (folded.startsWith(words.join(' '))) return 3
  return words.every((word) => folded.startsWith(word) || folded.includes(` ${word}`)) ? 2 : 1
}

export function sortByMatch<T>(entries: readonly T[], textOf: (entry: T) => string, search: string): T[] {
  return entries
    .map((entry) => ({ entry, fit: matchScore(textOf(entry), search) }))
    .filter(({ fit }) => fit > 0)
    .toSorted((one, other) => other.fit - one.fit)
    .map(({ entry }) => entry)
}
