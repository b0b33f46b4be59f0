import type { SnippetPart } from '#contract/search.ts'

const MAX_CHARACTERS = 160
const LEAD_CHARACTERS = 40
/** Bounds the work on one message, which blocks the event loop; later words are found, but not shown. */
export const MAX_SCANNED_CHARACTERS = 100_000

const IGNORED_CHARACTERS =
  /[\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

/** Mirrors `fold_text` of 0022_message_search.sql, for one code point. */
const foldCharacter = (character: string): string =>
  character < '\u0080'
    ? character.toLowerCase()
    : character.normalize('NFKD').toLowerCase().replaceAll(IGNORED_CHARACTERS, '').replaceAll('ς', 'σ')

interface Hit {
  readonly word: number
  readonly start: number
  readonly end: number
}

/** Removes Markdown signs and source numbers, which mean nothing in a single line. */
const toPlainText = (markdown: string): string =>
  markdown
    .replaceAll(/!?\[([^[\]\n]{0,500})\]\([^)\s]{0,2000}\)/g, '$1')
    .replaceAll(/\s?\[\d+\]/g, '')
    .replaceAll(/^[^\S\n]*(?:#{1,6}|>|[-*+]|\d{1,9}[.)])\s+/gm, '')
    .replaceAll(/\*\*|__|`+|^[|:\s-]+$/gm, '')
    .replaceAll(/(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=[^\s*])\*(?![\w*])/g, '$1')
    .replaceAll(/\\([\\`*_[\]<>#|~.)+-])/g, '$1')
    .replaceAll(/[\s|]+/g, ' ')
    .trim()

function findHits(text: string, words: readonly string[]): Hit[] {
  let folded = ''
  const starts: number[] = []
  const ends: number[] = []
  let offset = 0
  for (const character of text) {
    const piece = foldCharacter(character)
    const end = offset + character.length
    for (let unit = 0; unit < piece.length; unit += 1) {
      starts.push(offset)
      ends.push(end)
    }
    if (piece === '' && ends.length > 0) ends[ends.length - 1] = end
    folded += piece
    offset = end
  }
  return words
    .flatMap((given, word) => {
      const wanted = Array.from(given, foldCharacter).join('')
      const hits: Hit[] = []
      if (wanted === '') return hits
      for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + wanted.length)) {
        hits.push({ word, start: starts[at] ?? 0, end: ends[at + wanted.length - 1] ?? text.length })
      }
      return hits
    })
    .toSorted((one, other) => one.start - other.start)
}

function findBestStart(hits: readonly Hit[]): number {
  let best = { start: 0, words: 0 }
  const counts = new Map<number, number>()
  let first = 0
  for (const last of hits) {
    counts.set(last.word, (counts.get(last.word) ?? 0) + 1)
    for (
      let left = hits[first];
      left && last.end - left.start > MAX_CHARACTERS - LEAD_CHARACTERS && left !== last;
      left = hits[first]
    ) {
      const remaining = (counts.get(left.word) ?? 0) - 1
      if (remaining > 0) counts.set(left.word, remaining)
      else counts.delete(left.word)
      first += 1
    }
    if (counts.size > best.words) best = { start: hits[first]?.start ?? 0, words: counts.size }
  }
  return best.start
}

/** Moves a cut to the next space unless that is far, so that no spaced word is cut. */
function moveToBlank(text: string, from: number): number {
  if (from <= 0) return 0
  if (from >= text.length) return text.length
  const blank = text.indexOf(' ', from)
  return blank !== -1 && blank - from < 20 ? blank + 1 : from
}

export function createSnippet(content: string, words: readonly string[]): SnippetPart[] {
  const text = toPlainText(content.slice(0, MAX_SCANNED_CHARACTERS))
  const hits = findHits(text, words)
  const start = moveToBlank(text, findBestStart(hits) - LEAD_CHARACTERS)
  const end = moveToBlank(text, start + MAX_CHARACTERS)
  const parts: SnippetPart[] = []
  const add = (from: number, to: number, isHit: boolean): void => {
    if (to <= from) return
    const before = parts.at(-1)
    if (isHit && before?.is_hit === true) before.text += text.slice(from, to)
    else parts.push({ text: text.slice(from, to), is_hit: isHit })
  }
  if (start > 0) parts.push({ text: '… ', is_hit: false })
  let after = start
  for (const hit of hits) {
    if (hit.start >= end) break
    add(after, hit.start, false)
    add(Math.max(after, hit.start), Math.min(hit.end, end), true)
    after = Math.max(after, Math.min(hit.end, end))
  }
  add(after, end, false)
  if (end < text.length) parts.push({ text: '…', is_hit: false })
  return parts
}
