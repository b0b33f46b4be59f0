/**
 * The baseline of `retrieval.ts`: BM25 (k1 0.9, b 0.4) over lower-case words as they are written, without stems, stop words
 * or a tokenizer for any language. Runs of Chinese, Japanese and Korean are split into pairs of characters.
 */
const [K1, B] = [0.9, 0.4]
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々])[\p{L}\p{N}\p{M}])+/gu
const IS_PAIRED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]/u

export function plainWords(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).flatMap((word) => {
    const characters = Array.from(word)
    return IS_PAIRED.test(word) && characters.length > 1
      ? characters.slice(1).map((character, before) => `${characters[before] ?? ''}${character}`)
      : [word]
  })
}

function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

interface CollectionText {
  readonly _id: string
  readonly title: string
  readonly text: string
}

/** `rank` yields ids of texts that hold a word of the question, best first. */
export async function indexPlainly(
  texts: AsyncIterable<CollectionText> | Iterable<CollectionText>,
): Promise<{ rank: (question: string) => string[] }> {
  const postings = new Map<string, [index: number, count: number][]>()
  const ids: string[] = []
  const lengths: number[] = []
  for await (const { _id, title, text } of texts) {
    const index = ids.push(_id) - 1
    const words = plainWords(`${title}\n${text}`)
    lengths.push(words.length)
    for (const [word, count] of countWords(words)) {
      const known = postings.get(word)
      if (known) known.push([index, count])
      else postings.set(word, [[index, count]])
    }
  }
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1)
  const rank = (question: string): string[] => {
    const scores = new Map<number, number>()
    for (const [word, asked] of countWords(plainWords(question))) {
      const found = postings.get(word) ?? []
      const idf = Math.log(1 + (ids.length - found.length + 0.5) / (found.length + 0.5))
      for (const [index, count] of found) {
        const norm = K1 * (1 - B + (B * (lengths[index] ?? 0)) / averageLength)
        scores.set(index, (scores.get(index) ?? 0) + (asked * idf * count * (K1 + 1)) / (count + norm))
      }
    }
    return [...scores].toSorted(([, one], [, other]) => other - one).map(([index]) => ids[index] ?? '')
  }
  return { rank }
}
