/** Cuts growing Markdown so that no raw markup flashes up and no block changes its kind later. */
import { inlineMathsAt, openMathsIndex } from './maths.ts'

export type StableMarkdown = {
  /** Further text does not change how this part renders; it never becomes shorter. */
  stable: string
  /** Closing marks to append, so that open emphasis and code render from their first letter. */
  closing: string
  /** The beginning of an unclosed formula, shown as plain text. */
  plain: string
}

/** An unclosed link or bracket is held back up to these lengths, in characters. */
const MAX_OPEN_BRACKET_LENGTH = 80
const MAX_OPEN_ADDRESS_LENGTH = 400

const FENCE = /^ {0,3}(?:```|~~~)/gm
const UNFINISHED_FENCE = /(?<=\n)[ \t]*[`~]+$/
/** A last line of block markup alone: a heading, list, quotation, rule or table. */
const UNFINISHED_LINE = /(?<=^|\n)(?:[-*+#>=|:_`~ \t]+|[ \t]*\$|[ \t]*\d+[.)]?[ \t]*)$/
const TABLE_ROW = /^[ \t]*\|/
const TABLE_RULE = /^[ \t]*\|[-:| \t]+$/m
/** Starts of inline text: after a blank line, or at an item, quotation, row or heading. */
const SEGMENT_START = /\n(?=[^\S\n]*\n|[ \t]*(?:[-*+>|]|\d+[.)]|#{1,6} ))/g

/** @param text begins at the start of a block */
export function stableMarkdown(text: string): StableMarkdown {
  const fences = [...text.matchAll(FENCE)]
  if (fences.length % 2 === 1) return { stable: text.replace(UNFINISHED_FENCE, ''), closing: '', plain: '' }
  const fenceEnd = text.indexOf('\n', fences.at(-1)?.index)
  if (fences.length > 0 && fenceEnd === -1) return { stable: text, closing: '', plain: '' }
  const formula = openMathsIndex(text)
  if (formula !== -1) return { stable: text.slice(0, formula), closing: '', plain: text.slice(formula) }
  const finished = text.replace(UNFINISHED_LINE, '')
  const lineEnd = finished.endsWith('\n') ? finished.length - 1 : finished.length
  const lineStart = finished.lastIndexOf('\n', lineEnd - 1) + 1
  if (TABLE_ROW.test(finished.slice(lineStart, lineEnd)) && !TABLE_RULE.test(blockBefore(finished, lineEnd))) {
    return { stable: finished.slice(0, lineStart), closing: '', plain: '' }
  }
  const afterFence = fences.length > 0 ? fenceEnd : -1
  const segment = Math.max(afterFence, [...finished.matchAll(SEGMENT_START)].at(-1)?.index ?? -1) + 1
  const { end, closing } = scanInline(finished.slice(segment))
  return { stable: finished.slice(0, segment + end), closing, plain: '' }
}

function blockBefore(text: string, end: number): string {
  const block = text.slice(0, end)
  return block.slice(block.lastIndexOf('\n\n') + 1)
}

const EMPHASIS = /^(?:\*{1,3}|_{1,3}|~{1,2})/
const CODE = /^(`+)(?:(?!\1)[^]|\1`+)*?(?<!`)\1(?!`)/
const LINK = /^\[[^\]]*\](?:\([^)]*\)|(?=[^(]))/
const OPEN_LINK = /^\[[^\]]*(\](?:\([^)]*)?)?$/

/** Scans inline marks: `end` of the part that can be shown, and the marks to close there. */
function scanInline(segment: string): { end: number; closing: string } {
  const open: string[] = []
  const ended = (end: number): { end: number; closing: string } => {
    const closing = open.toReversed().join('')
    // A mark after a space does not close.
    return { end: closing === '' ? end : segment.slice(0, end).trimEnd().length, closing }
  }
  let index = 0
  while (index < segment.length) {
    const rest = segment.slice(index)
    const closed = closedLength(rest, segment.slice(Math.max(0, index - 2), index))
    if (closed > 0) {
      index += closed
      continue
    }
    if (rest.startsWith('`')) {
      const mark = /^`+/.exec(rest)?.[0] ?? ''
      // A mark of several characters arrives one by one.
      const code = rest.slice(mark.length).replace(/(?<![\s`])[\s`]+$/, '')
      if (code === '') return ended(index)
      open.push(mark)
      return ended(index + mark.length + code.length)
    }
    const link = OPEN_LINK.exec(rest)
    if (link !== null && rest.length <= (link[1]?.startsWith('](') ? MAX_OPEN_ADDRESS_LENGTH : MAX_OPEN_BRACKET_LENGTH))
      return ended(index)
    const mark = EMPHASIS.exec(rest)?.[0]
    if (mark === undefined) {
      index += 1
      continue
    }
    const before = segment[index - 1] ?? ' '
    const after = rest[mark.length]
    if (open.at(-1) === mark && before !== ' ') open.pop()
    else if (after === undefined) return ended(index)
    else if (mark !== '~' && /[\s\p{P}]/u.test(before) && /\S/.test(after)) open.push(mark)
    index += mark.length
  }
  return ended(index)
}

/** The length of the complete run at the start of `rest`: words, an escape, code, a formula, a link; else 0. */
function closedLength(rest: string, before: string): number {
  const words = /^[^\\`$[*_~]+/.exec(rest)
  if (words !== null) return words[0].length
  const run =
    /^\\[^([]/.exec(rest)?.[0] ?? CODE.exec(rest)?.[0] ?? inlineMathsAt(rest, before)?.raw ?? LINK.exec(rest)?.[0]
  return run?.length ?? 0
}
