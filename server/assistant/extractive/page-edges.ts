/** Finds running titles and page numbers at the edges of pages. Pure. */

import type { PageEdges } from '#server/documents/store/pages.ts'
import type { PassageRange } from '#server/search/text/passages.ts'

const MAX_EDGE_LINES = 3
const MAX_LINE_CHARACTERS = 120

interface Line extends PassageRange {
  readonly words: readonly string[]
}

function linesOf(text: string): Line[] {
  return [...text.matchAll(/[^\n]+/g)]
    .filter(([line]) => line.trim() !== '')
    .map(({ index, 0: line }) => ({
      start: index,
      end: index + line.length,
      words: line.trim().split(/\s+/),
    }))
}

/** Equal words, except for a number that rises with the page numbers. */
function isRepeatedLine(line: Line, other: Line, distance: number): boolean {
  if (line.words.length !== other.words.length || line.end - line.start > MAX_LINE_CHARACTERS) return false
  return line.words.every((word, index) => {
    const counterpart = other.words[index] ?? ''
    if (word === counterpart) return true
    return /^\d+$/.test(word) && /^\d+$/.test(counterpart) && Number(counterpart) - Number(word) === distance
  })
}

export function findPageBody(text: string, page: number, near: readonly PageEdges[]): PassageRange {
  const others = near.map((other) => ({
    distance: other.page - page,
    head: linesOf(other.head).slice(0, MAX_EDGE_LINES),
    foot: linesOf(other.foot).slice(-MAX_EDGE_LINES),
  }))
  const lines = linesOf(text)
  const most = Math.min(MAX_EDGE_LINES, Math.floor(lines.length / 2))
  const isAt = (edge: 'head' | 'foot') => (line: Line) =>
    others.some((other) => other[edge].some((counterpart) => isRepeatedLine(line, counterpart, other.distance)))
  const head = lines.slice(0, most).findLast(isAt('head'))
  const foot = lines.slice(lines.length - most).find(isAt('foot'))
  const own = { start: head?.end ?? 0, end: foot?.start ?? text.length }
  return text.slice(own.start, own.end).trim() === '' ? { start: 0, end: text.length } : own
}
