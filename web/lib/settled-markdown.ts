/** How far back an opened mark is waited for; one that is never closed is then shown as it was written. */
const OPEN_MARK = 80

const FENCE = /^ {0,3}(?:```|~~~)/gm
const UNFINISHED_FENCE = /(?<=\n)[ \t]*[`~]+$/
/** A last line of which only the marks are there: of a heading, a list, a quotation, a rule, a table. */
const UNFINISHED_LINE = /(?<=^|\n)[ \t]*(?:[-*+#>=|:_`~ \t]+|\d+[.)]?[ \t]*)$/
const TABLE_ROW = /^[ \t]*\|/
const TABLE_RULE = /^[ \t]*\|[-:| \t]+$/m
/** Bold, code or a link that has begun; closed ones have been blanked out. */
const OPEN = /(?:\*\*|`)(?:(?!\*\*|`).)*$|\*$|\[[^\]]*(?:\](?:\([^)]*)?)?$/

/**
 * The part of a growing text that further text will not turn into something else, so that no raw marks flash up. It
 * never becomes shorter while the text grows.
 */
export function settledMarkdown(text: string): string {
  const isInFence = (text.match(FENCE)?.length ?? 0) % 2 === 1
  if (isInFence) return text.replace(UNFINISHED_FENCE, '')
  const finished = text.replace(UNFINISHED_LINE, '')
  const lineEnd = finished.endsWith('\n') ? finished.length - 1 : finished.length
  const lineStart = finished.lastIndexOf('\n', lineEnd - 1) + 1
  const line = finished.slice(lineStart, lineEnd)
  // A row without a rule above it is perhaps the head of a table.
  if (TABLE_ROW.test(line) && !TABLE_RULE.test(blockBefore(finished, lineEnd))) return finished.slice(0, lineStart)
  if (lineEnd < finished.length) return finished
  const open = OPEN.exec(withClosedBlanked(line))
  return open === null || line.length - open.index > OPEN_MARK ? finished : finished.slice(0, lineStart + open.index)
}

/** The lines of the block that ends at `end`. */
function blockBefore(text: string, end: number): string {
  const block = text.slice(0, end)
  return block.slice(block.lastIndexOf('\n\n') + 1)
}

function withClosedBlanked(line: string): string {
  const blank = (closed: string): string => ' '.repeat(closed.length)
  return line
    .replace(/`[^`]+`/g, blank)
    .replace(/\*\*(?:(?!\*\*).)+\*\*/g, blank)
    .replace(/\[[^\]]*\]\([^)]*\)/g, blank)
}
