export type Dictionary = ReadonlyMap<string, string>

interface Stem {
  readonly word: string
  /** Null: the word is a stop word, which stays as it is. */
  readonly stem: string | null
}

export interface StemCache {
  get(language: string): Dictionary
  /** Returns a dictionary that holds at least these words. */
  add(language: string, found: readonly Stem[]): Dictionary
  readonly size: number
}

/** @param maxWords over all languages; when they are reached, all are dropped, which costs one statement for each. */
export function createStemCache(maxWords: number): StemCache {
  const dictionaries = new Map<string, Map<string, string>>()
  const count = () => [...dictionaries.values()].reduce((words, { size }) => words + size, 0)

  return {
    get size() {
      return count()
    },
    get: (language) => dictionaries.get(language) ?? new Map<string, string>(),
    add(language, found) {
      if (count() + found.length > maxWords) dictionaries.clear()
      const dictionary = dictionaries.get(language) ?? new Map<string, string>()
      for (const { word, stem } of found) dictionary.set(word, stem ?? word)
      if (dictionary.size <= maxWords) dictionaries.set(language, dictionary)
      return dictionary
    },
  }
}
