/** Figures in large type with a label, as on the first pages of reports: "BY REVENUE" above "€ 4.2 billion". */
import type { PageBlock } from '#contract/document.ts'

const MAGNITUDES =
  'thousand|million|mn|mio|billion|bn|mrd|trillion|tn|crore|lakh|tausend|millionen|milliarden|millions|milliards|millones|milioni|miliardi|milhões|bilhões|miljoen|miljard|miljoner|miljarder|млн|млрд|тыс|万|億|亿|百万|만|억'
const NUMBER = String.raw`\p{N}(?:[\p{N}.,'’\s]*\p{N})?`
/** A number with at most a currency or a sign before it and two short words after it. */
const FIGURE = new RegExp(
  String.raw`^[^\p{L}\p{N}\n]{0,3}(?:\p{Lu}{2,3}\s?)?${NUMBER}\s?[%‰+\p{Sc}]?(?:\s?[\p{L}.]{1,12}){0,2}$`,
  'u',
)
/** Tells it from the number of a section, a date and a year. */
const MEASURED = new RegExp(
  String.raw`[%‰\p{Sc}]|\p{N}[.,'’]\p{N}{3}(?!\p{N})|\p{N}\s?(?:${MAGNITUDES})(?!\p{L})`,
  'iu',
)
const MAX_FIGURE_CHARACTERS = 30
const MAX_LABEL_CHARACTERS = 60

type Part = 'figure' | 'label' | 'other'

export interface QuotableBlock extends PageBlock {
  /** A label with its figure, which are quoted together. */
  readonly isKeyFigure?: true
}

function partOf(pageText: string, { kind, start, end }: PageBlock): Part {
  if (kind === 'table') return 'other'
  const text = pageText.slice(start, end).trim()
  if (text.length <= MAX_FIGURE_CHARACTERS && FIGURE.test(text) && MEASURED.test(text)) return 'figure'
  // A few words without a number that end no sentence. A heading is above several figures.
  const isLabel = kind !== 'heading' && text.length <= MAX_LABEL_CHARACTERS && /\p{L}/u.test(text)
  return isLabel && !/\p{N}|[.:;!?。：；！？]$|\n/u.test(text) ? 'label' : 'other'
}

interface Run {
  readonly from: number
  readonly to: number
}

/** Longest runs of blocks that are a label and a figure in turn. */
function runsOf(parts: readonly Part[]): Run[] {
  const runs: Run[] = []
  for (let from = 0; from < parts.length;) {
    let to = from + 1
    if (parts[from] !== 'other')
      while (to < parts.length && parts[to] !== 'other' && parts[to] !== parts[to - 1]) to += 1
    runs.push({ from, to })
    from = to
  }
  return runs.filter(({ from, to }) => to - from > 1)
}

/**
 * Blocks in which each figure is one with its label. Such figures count as headings for their large type, which are never
 * quoted. Labels are all above or all below the figures of a page: a run of both that has one for each, and is not next to
 * further ones, tells which. Where no run tells it, or runs differ, all blocks are left as they are.
 */
export function joinKeyFigures(pageText: string, blocks: readonly PageBlock[]): QuotableBlock[] {
  const parts = blocks.map((block) => partOf(pageText, block))
  const isOther = (index: number) => (parts[index] ?? 'other') === 'other'
  const runs = runsOf(parts)
  const clear = runs.filter(({ from, to }) => (to - from) % 2 === 0 && isOther(from - 1) && isOther(to))
  const firsts = new Set(clear.map(({ from }) => parts[from]))
  if (firsts.size !== 1) return [...blocks]
  const [first] = firsts
  const isBeginning = (index: number) =>
    parts[index] === first && runs.some(({ from, to }) => from <= index && index + 1 < to)
  const joined: QuotableBlock[] = []
  for (let index = 0; index < blocks.length; index += 1) {
    const [block, next] = [blocks[index], blocks[index + 1]]
    if (block && next && isBeginning(index)) {
      joined.push({ kind: 'paragraph', start: block.start, end: next.end, isKeyFigure: true })
      index += 1
    } else if (block) joined.push(block)
  }
  return joined
}
