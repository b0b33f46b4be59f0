import type { Scope } from '#server/database/scope.ts'
import { wordListOf, type WordList } from '#server/search/text/spelling.ts'
import { unpackWords } from './block.ts'
import { createByteCache } from './byte-cache.ts'
import type { IndexSegment, LibraryIndex } from './library-index.ts'
import { isVocabularyWord, numberOfWords } from './pack-segment.ts'
import { EMPTY_BLOCK, readBlocks } from './posting-lookup.ts'
import { readBlock } from './segment-format.ts'

const wordCache = createByteCache<WordList>(8_000_000)

/** Lengths in UTF-16 code units. A word may occur once for each segment. */
export async function readVocabulary(
  scope: Scope,
  { segments }: LibraryIndex,
  lengths: readonly number[],
): Promise<WordList[]> {
  const lists: WordList[] = []
  const missing = new Map<IndexSegment, number[]>()
  for (const segment of segments) {
    for (const length of lengths) {
      const cached = wordCache.get(`${segment.identity} ${length}`)
      if (cached) lists.push(cached)
      else missing.set(segment, [...(missing.get(segment) ?? []), length])
    }
  }
  if (missing.size === 0) return lists
  const words = await readWords(scope, [...missing.keys()], [...new Set([...missing.values()].flat())])
  for (const [segment, ofSegment] of missing) {
    for (const length of ofSegment) {
      const list = wordListOf(length, words.get(`${segment.segment} ${length}`) ?? [])
      wordCache.set(`${segment.identity} ${length}`, list)
      lists.push(list)
    }
  }
  return lists
}

const hasOneBlock = ({ blocks }: IndexSegment): boolean => blocks === 1

async function readWords(
  scope: Scope,
  segments: readonly IndexSegment[],
  lengths: readonly number[],
): Promise<Map<string, string[]>> {
  // A segment of one block has no stored vocabulary: the block holds all of its terms.
  const [single, several] = [segments.filter(hasOneBlock), segments.filter((segment) => !hasOneBlock(segment))]
  const words = new Map<string, string[]>()
  if (several.length > 0) {
    const { rows } = await scope.prepared<{ segment: string; bucket: number; content: Buffer }>(
      'select segment::text, bucket, content from search_buckets where segment = any ($1) and bucket = any ($2)',
      [several.map(({ segment }) => segment), lengths.map(numberOfWords)],
    )
    for (const { segment, bucket, content } of rows) words.set(`${segment} ${-bucket}`, unpackWords(content))
  }
  const blocks = await readBlocks(
    scope,
    single.map((segment) => ({ segment, block: 0 })),
  )
  const wanted = new Set(lengths)
  for (const [index, { segment }] of single.entries()) {
    for (const [term] of readBlock(blocks[index]?.bytes ?? EMPTY_BLOCK.bytes)) {
      if (!wanted.has(term.length) || !isVocabularyWord(term)) continue
      const key = `${segment} ${term.length}`
      const list = words.get(key)
      if (list) list.push(term)
      else words.set(key, [term])
    }
  }
  return words
}
