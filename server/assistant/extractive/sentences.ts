import type { PageBlock } from '#contract/document.ts'
import { isMessageSource, isPassageSource } from '#contract/source.ts'
import type { PassageRange } from '#server/search/text/passages.ts'
import { type SentenceRange, splitSentences, trimRange } from '#server/search/text/split-sentences.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { joinKeyFigures, type QuotableBlock } from './key-figures.ts'
import type { QuotableSource } from './quotable.ts'
import { cellsOf, isList } from './quoted-rows.ts'

export interface Sentence {
  readonly source: QuotableSource
  readonly start: number
  readonly end: number
  readonly pageText: string
  readonly words: readonly string[]
  readonly headingWords: readonly string[]
  readonly isRow: boolean
  /** Rows of column titles above a line of several cells; empty if there are none. */
  readonly titles: string
  readonly isAtEdge: boolean
}

export interface QuotedPage {
  readonly text: string
  readonly blocks?: readonly PageBlock[] | null
  readonly body?: PassageRange
}

function quotableBlocks(pageText: string, blocks: readonly PageBlock[] | null): readonly QuotableBlock[] {
  const bodies = joinKeyFigures(pageText, blocks ?? []).filter(({ kind }) => kind !== 'heading')
  return bodies.length > 0 ? bodies : [{ kind: 'paragraph', start: 0, end: pageText.length }]
}

function bodyRowsOf(pageText: string, { start, end, headerEnd = start }: PageBlock) {
  const rows = [...pageText.slice(start, end).matchAll(/[^\n]+/g)]
    .filter(([row]) => row.trim() !== '')
    .map(({ index, 0: row }) => trimRange(pageText, { start: start + index, end: start + index + row.length }))
  const below = rows.filter((row) => row.end > headerEnd)
  return below.length > 0 ? below : rows
}

const splitAtBody = (block: PassageRange, own: PassageRange): PassageRange[] =>
  [
    { start: block.start, end: Math.min(block.end, own.start) },
    { start: Math.max(block.start, own.start), end: Math.min(block.end, own.end) },
    { start: Math.max(block.start, own.end), end: block.end },
  ].filter(({ start, end }) => start < end)

const sentencesIn = (text: string, part: PassageRange): SentenceRange[] =>
  splitSentences(text.slice(part.start, part.end)).map(({ start, end, ...kind }) => ({
    ...kind,
    start: part.start + start,
    end: part.start + end,
  }))

/** Characters between a title and its second line. */
const MAX_TITLE_GAP = 3

/** The nearest heading above, the lines of the same title, and the headings above them of ever higher levels. */
function headingsAbove(blocks: readonly PageBlock[], at: number): PageBlock[] {
  const headings: PageBlock[] = []
  for (const block of blocks.filter(({ kind, end }) => kind === 'heading' && end <= at).toReversed()) {
    const below = headings.at(-1)
    const [level, levelBelow] = [block.level ?? 1, below?.level ?? 1]
    const isSameTitle = below !== undefined && level === levelBelow && below.start - block.end < MAX_TITLE_GAP
    if (!below || level < levelBelow || isSameTitle) headings.push(block)
  }
  return headings
}

/** Sentences that a passage touches, each complete even if the passage ends inside it; tables row by row. */
export function sentencesOf(
  source: QuotableSource,
  { text, blocks = null, body: own = { start: 0, end: text.length } }: QuotedPage,
  passage: PassageRange,
): Sentence[] {
  const titlesAbove = (isPassageSource(source) && source.heading) || ''
  const above = (at: number) => {
    const headings = headingsAbove(blocks ?? [], at)
    // The headings of a passage are those of its beginning, and a later heading of the same page replaces them.
    const isReplaced = headings.some(({ start }) => start >= passage.start)
    return wordsOf(
      [isReplaced ? '' : titlesAbove, ...headings.map(({ start, end }) => text.slice(start, end))].join(' '),
    )
  }
  return quotableBlocks(text, blocks)
    .filter(({ start, end }) => start < passage.end && passage.start < end)
    .flatMap((block) => {
      const isTable = block.kind === 'table'
      const isRow = isTable && !isList(text.slice(block.start, block.end))
      const ranges: SentenceRange[] = isTable
        ? bodyRowsOf(text, isRow ? block : { ...block, headerEnd: block.start })
        : block.isKeyFigure
          ? [trimRange(text, block)]
          : splitAtBody(block, own).flatMap((part) => sentencesIn(text, part))
      const titles = isRow ? text.slice(block.start, block.headerEnd ?? block.start) : ''
      const headingWords = above(block.start).concat(wordsOf(titles))
      const touched = ranges.filter(({ start, end }) => start < passage.end && passage.start < end)
      return touched.map(({ start, end, isRow: isSeparated = false }) => ({
        source,
        start,
        end,
        pageText: text,
        words: wordsOf(text.slice(start, end)),
        headingWords,
        isRow: isRow || isSeparated,
        // A table of titles alone has no rows below them, and a note in one cell needs no titles.
        titles: start < block.start + titles.length || cellsOf(text.slice(start, end)).length < 2 ? '' : titles,
        isAtEdge: end <= own.start || start >= own.end,
      }))
    })
}

export function toQuote(
  { source, start, end, pageText, titles }: Pick<Sentence, 'source' | 'start' | 'end' | 'pageText' | 'titles'>,
  n: number,
): QuotableSource {
  const text = pageText.slice(start, end)
  if (isMessageSource(source)) return { ...source, n, text }
  return { ...source, n, start, end, text, ...(titles === '' ? {} : { titles }) }
}
