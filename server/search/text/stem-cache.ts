export type Dictionary = ReadonlyMap<string, string>

export interface StemCache {
  get(language: string): Dictionary
  /**
   * Returns a dictionary that holds at least these words and those that an earlier one held of the asked ones.
   *
   * @param stems of the words, in their order
   */
  add(language: string, words: readonly string[], stems: readonly string[], asked?: AskedWords): Dictionary
  readonly size: number
}

interface AskedWords {
  readonly words: readonly string[]
  /** An earlier dictionary of the language, which the cache may have dropped meanwhile. */
  readonly before: Dictionary
}

/** @param maxWords over all languages; when they are reached, all are dropped, which costs one statement for each. */
export function createStemCache(maxWords: number): StemCache {
  const dictionaries = new Map<string, Map<string, string>>()
  const count = () => dictionaries.values().reduce((words, { size }) => words + size, 0)

  return {
    get size() {
      return count()
    },
    get: (language) => dictionaries.get(language) ?? new Map<string, string>(),
    add(language, words, stems, asked) {
      if (count() + words.length + (asked?.words.length ?? 0) > maxWords) dictionaries.clear()
      const dictionary = dictionaries.get(language) ?? new Map<string, string>()
      if (asked && asked.before !== dictionary) {
        for (const word of asked.words) {
          const stem = asked.before.get(word)
          if (stem !== undefined) dictionary.set(word, stem)
        }
      }
      for (const [index, word] of words.entries()) dictionary.set(word, stems[index] ?? word)
      if (dictionary.size <= maxWords) dictionaries.set(language, dictionary)
      return dictionary
    },
  }
}
