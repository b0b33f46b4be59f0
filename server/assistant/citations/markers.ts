/** Citation markers such as `[2]` or `[1, 3]`, by source number. Those that point to no source are removed in the stream. */

import { MAX_MARKER_WITHOUT_SOURCE, SOURCE_NUMBER } from '#contract/citation-marker.ts'

// Bounded: a long list of numbers belongs to the text and must not be held back until it ends.
const MARKER = new RegExp(String.raw`^\[\s?${SOURCE_NUMBER}(?:\s?[,;]\s?${SOURCE_NUMBER}){0,9}\s?\]`)
const PLAIN_TEXT = /[^`[ \n]+/y
const UNFINISHED_MARKER = /^\[[\d\s,;]{0,80}$/

export type Citations = ReadonlyMap<number, readonly number[]>

export interface MarkerFilter {
  push(text: string): string
  end(): string
  /** Cited numbers, with the offsets of their markers in the returned text. */
  readonly cited: Citations
}

export function createMarkerFilter(known: ReadonlySet<number>): MarkerFilter {
  const cited = new Map<number, number[]>()
  let returned = 0
  let held = ''
  let previous = ' '
  let fence = ''
  let isInCodeSpan = false
  let isLineStart = true

  function consume(text: string, isEnd: boolean): string {
    let output = ''
    let index = 0
    while (index < text.length) {
      const rest = text.slice(index)
      const ticks = /^`+/.exec(rest)?.[0]
      if (ticks !== undefined) {
        if (!isEnd && ticks.length === rest.length && ticks.length < 3) break
        if (isLineStart && ticks.length >= 3 && fence === '') fence = ticks
        else if (isLineStart && fence !== '' && ticks.length >= fence.length) fence = ''
        else if (fence === '') isInCodeSpan = !isInCodeSpan
        output += ticks
        index += ticks.length
        isLineStart = false
        previous = '`'
        continue
      }
      if (fence === '' && !isInCodeSpan) {
        // The space before a marker is removed with it, so it waits too.
        if (rest === ' ' && !isEnd) break
        const blank = rest.startsWith(' [') ? ' ' : ''
        const bracket = rest.slice(blank.length)
        if (bracket.startsWith('[') && (blank !== '' || !/[\p{L}\p{N}_\]]/u.test(previous))) {
          const marker = MARKER.exec(bracket)?.[0]
          if (marker === undefined && !isEnd && UNFINISHED_MARKER.test(bracket)) break
          const following = marker === undefined ? undefined : bracket[marker.length]
          if (marker !== undefined && following === undefined && !isEnd) break
          const numbers = (marker?.match(/\d+/g) ?? []).map(Number)
          const isText = numbers.some((n) => n > MAX_MARKER_WITHOUT_SOURCE && !known.has(n))
          if (marker !== undefined && !isText && following !== '(' && following !== ':') {
            const valid = numbers.filter((n) => known.has(n))
            if (valid.length > 0) output += blank
            for (const n of valid) {
              const places = cited.get(n) ?? []
              places.push(returned + output.length)
              cited.set(n, places)
              output += `[${n}]`
            }
            index += blank.length + marker.length
            isLineStart = false
            previous = ' '
            continue
          }
        }
      }
      PLAIN_TEXT.lastIndex = index
      if (PLAIN_TEXT.test(text)) {
        output += text.slice(index, PLAIN_TEXT.lastIndex)
        index = PLAIN_TEXT.lastIndex
        previous = text[index - 1] ?? ''
        isLineStart = false
        continue
      }
      const character = text[index] ?? ''
      output += character
      index += 1
      previous = character
      if (character === '\n') isInCodeSpan = false
      isLineStart = character === '\n' || (isLineStart && character === ' ')
    }
    held = text.slice(index)
    returned += output.length
    return output
  }

  return {
    cited,
    push: (text) => consume(held + text, false),
    end: () => consume(held, true),
  }
}
