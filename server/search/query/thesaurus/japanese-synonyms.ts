/**
 * Japanese synonyms with their English words, from the synonym dictionary of Sudachi (Works Applications). The file has 14 MB on
 * one line; it is read in chunks at the first need, and what stays is one string of all groups and the starts of words.
 */
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { setImmediate } from 'node:timers/promises'
import { wordKey } from './word-key.ts'

const FILE = path.join(
  path.dirname(fileURLToPath(import.meta.resolve('sudachi-synonyms-dictionary'))),
  'sudachi-synonyms-dictionary.json',
)
const CHUNK_BYTES = 256_000
/** `expandControl` 2: never part of an expansion. */
const ITEM = /"id":"\d+"|"expandControl":([012])|"midashi":"((?:[^"\\]|\\.)*)"/g

interface Dictionary {
  /** The words of each group, joined by tabs. */
  readonly groups: readonly string[]
  readonly groupsOf: ReadonlyMap<string, readonly number[]>
}

let dictionary: Promise<Dictionary> | undefined

async function readDictionary(): Promise<Dictionary> {
  const groups: string[] = []
  const groupsOf = new Map<string, number[]>()
  let words: string[] = []
  let isExcluded = false
  const endGroup = () => {
    if (words.length > 1) {
      for (const key of new Set(words.map(wordKey))) groupsOf.set(key, [...(groupsOf.get(key) ?? []), groups.length])
      groups.push([...new Set(words)].join('\t'))
    }
    words = []
  }
  let rest = ''
  for await (const chunk of createReadStream(FILE, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })) {
    const text = rest + String(chunk)
    let read = 0
    for (const match of text.matchAll(ITEM)) {
      const [whole, control, word] = match
      read = match.index + whole.length
      if (control !== undefined) isExcluded = control === '2'
      else if (word === undefined) endGroup()
      else if (!isExcluded) words.push(word.replaceAll(/\\(.)/g, '$1'))
    }
    rest = text.slice(read)
    // Questions of other people go on between two chunks.
    await setImmediate()
  }
  endGroup()
  return { groups, groupsOf }
}

export interface JapaneseSynonyms {
  /** @param key of `wordKey` */
  has(key: string): boolean
  /** All words of the groups that hold the word, itself included. */
  synonymsOf(key: string): readonly string[]
}

/** The dictionary, read once for the process. */
export async function openJapaneseSynonyms(): Promise<JapaneseSynonyms> {
  if (!dictionary) {
    dictionary = readDictionary()
    dictionary.catch(() => (dictionary = undefined))
  }
  const { groups, groupsOf } = await dictionary
  return {
    has: (key) => groupsOf.has(key),
    synonymsOf: (key) => (groupsOf.get(key) ?? []).flatMap((group) => groups[group]?.split('\t') ?? []),
  }
}
