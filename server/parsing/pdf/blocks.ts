import type { PageBlock } from '#contract/document.ts'
import { BULLETS } from '#server/parsing/symbol-fonts.ts'

export interface WrittenLine {
  readonly start: number
  readonly end: number
  readonly height: number
  readonly isBold: boolean
  readonly isMono: boolean
  readonly table: number | undefined
  readonly beginsParagraph: boolean
  readonly distance: number
}

const HEADING_SIZE = 1.15
const HEADING_MAX_CHARACTERS = 150
const BOLD_HEADING_MAX_CHARACTERS = 90
/** Maximum distance of lines in a heading, in line heights. */
const HEADING_DISTANCE = 1.6
const MAX_LEVEL = 6
const SAME_SIZE = 0.06
const LIST_ITEM = new RegExp(
  String.raw`^\s*(?:[${BULLETS}–—*-]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\(?[ivx]{1,4}[.)])\s+\S`,
  'iu',
)

type Kind = PageBlock['kind']

export function findBlocks(text: string, lines: readonly WrittenLine[]): PageBlock[] {
  const body = measureBody(lines)
  const isHeading = lines.map((line, index) => isHeadingLine(text, line, lines[index + 1], body))
  const sizes = headingSizes(lines.filter((_, index) => isHeading[index]))
  const blocks: PageBlock[] = []
  let previous: { readonly line: WrittenLine; readonly kind: Kind } | undefined
  lines.forEach((line, index) => {
    if (text.slice(line.start, line.end).trim() === '') return
    const kind = kindOf(text, line, isHeading[index] === true, previous)
    const last = blocks.at(-1)
    if (last && previous && continues(previous, line, kind)) {
      blocks[blocks.length - 1] = { ...last, end: line.end }
    } else {
      const { start, end } = line
      const level = 1 + sizes.findIndex((size) => isSameSize(size, line.height))
      blocks.push({
        kind,
        start,
        end,
        ...(kind === 'heading' ? { level: Math.min(MAX_LEVEL, Math.max(1, level)) } : {}),
        ...(kind === 'table' ? { headerEnd: end } : {}),
      })
    }
    previous = { line, kind }
  })
  return blocks
}

interface Body {
  readonly height: number
  readonly isBold: boolean
}

function measureBody(lines: readonly WrittenLine[]): Body {
  const weighed = lines.flatMap((line) =>
    Array<WrittenLine>(Math.min(Math.ceil((line.end - line.start) / 10), 50)).fill(line),
  )
  const sorted = weighed.toSorted((one, other) => one.height - other.height)
  return {
    height: sorted[sorted.length >> 1]?.height ?? 0,
    isBold: 2 * weighed.filter((line) => line.isBold).length > weighed.length,
  }
}

function isHeadingLine(text: string, line: WrittenLine, next: WrittenLine | undefined, body: Body): boolean {
  const words = text.slice(line.start, line.end).trim()
  if (line.table !== undefined || words.length <= 2 || !/\p{L}{2}/u.test(words)) return false
  if (line.height > HEADING_SIZE * body.height && words.length <= HEADING_MAX_CHARACTERS) return true
  const isSetApart = line.beginsParagraph || line.start === 0
  const endsHere = next === undefined || next.beginsParagraph || !next.isBold
  return (
    line.isBold &&
    !body.isBold &&
    isSetApart &&
    endsHere &&
    line.height > 0.95 * body.height &&
    words.length <= BOLD_HEADING_MAX_CHARACTERS &&
    !/[.:;,]$/.test(words)
  )
}

const isSameSize = (one: number, other: number): boolean => Math.abs(one - other) <= SAME_SIZE * Math.max(one, other)

function headingSizes(headings: readonly WrittenLine[]): number[] {
  const sizes: number[] = []
  for (const { height } of headings.toSorted((one, other) => other.height - one.height))
    if (!sizes.some((size) => isSameSize(size, height))) sizes.push(height)
  return sizes
}

function kindOf(
  text: string,
  line: WrittenLine,
  isHeading: boolean,
  previous: { readonly line: WrittenLine; readonly kind: Kind } | undefined,
): Kind {
  if (line.table !== undefined) return 'table'
  if (isHeading) return 'heading'
  if (line.isMono) return 'code'
  if (LIST_ITEM.test(text.slice(line.start, line.end))) return 'list'
  return previous?.kind === 'list' && !line.beginsParagraph ? 'list' : 'paragraph'
}

function continues(
  previous: { readonly line: WrittenLine; readonly kind: Kind },
  line: WrittenLine,
  kind: Kind,
): boolean {
  if (kind !== previous.kind) return false
  switch (kind) {
    case 'table':
      return line.table === previous.line.table
    case 'heading':
      return isSameSize(line.height, previous.line.height) && line.distance < HEADING_DISTANCE * line.height
    case 'list':
      return true
    default:
      return !line.beginsParagraph
  }
}
