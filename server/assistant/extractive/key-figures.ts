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
/** Tells it from the number of a section, and from a year. */
const MEASURED = new RegExp(
  String.raw`[%‰\p{Sc}]|\p{N}[.,'’]\p{N}{2,3}(?!\p{N})|\p{N}\s?(?:${MAGNITUDES})(?!\p{L})`,
  'iu',
)
const MAX_FIGURE_CHARACTERS = 30
const MAX_LABEL_CHARACTERS = 60

const isFigure = (text: string): boolean =>
  text.length <= MAX_FIGURE_CHARACTERS && FIGURE.test(text) && MEASURED.test(text)

/** A few words without a number that end no sentence. */
const isLabel = (text: string): boolean =>
  text.length <= MAX_LABEL_CHARACTERS && /\p{L}/u.test(text) && !/\p{N}|[.:;!?。：；！？]$|\n/u.test(text)

export interface QuotableBlock extends PageBlock {
  /** A label with its figure, which are quoted together. */
  readonly isKeyFigure?: true
}

/**
 * Blocks in which each figure that stands alone is one with its label: that before it, or else that after it. Such figures
 * count as headings for their large type, which are never quoted.
 */
export function joinKeyFigures(pageText: string, blocks: readonly PageBlock[]): QuotableBlock[] {
  const joined: QuotableBlock[] = []
  const textOf = ({ start, end }: PageBlock) => pageText.slice(start, end).trim()
  const isLabelBlock = (block: QuotableBlock | undefined): block is PageBlock =>
    block !== undefined && block.kind !== 'table' && block.isKeyFigure !== true && isLabel(textOf(block))
  for (let index = 0; index < blocks.length; index += 1) {
    const block = blocks[index]
    if (block === undefined) continue
    const [before, after] = [joined.at(-1), blocks[index + 1]]
    if (block.kind === 'table' || !isFigure(textOf(block))) joined.push(block)
    else if (isLabelBlock(before))
      joined[joined.length - 1] = { kind: 'paragraph', start: before.start, end: block.end, isKeyFigure: true }
    else if (isLabelBlock(after)) {
      joined.push({ kind: 'paragraph', start: block.start, end: after.end, isKeyFigure: true })
      index += 1
    } else joined.push(block)
  }
  return joined
}
