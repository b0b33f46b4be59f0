import type { PassageRange } from './passages.ts'

const MAX_SENTENCE_CHARACTERS = 600

/** Full stops that end no sentence: initials and common abbreviations of the stemmed languages. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|vs|cf|al|etc|e\.g|i\.e|nos?|figs?|eqs?|secs?|chap|vol|pp|art|approx|dr|mr|mrs|ms|prof|st|inc|ltd|corp|jr|sr|bzw|z\.\s?b|u\.\s?a|d\.\s?h|nr|abs|ca|ggf|p\.\s?ex|sr|sra|núm|pág|av|руб|т\.\s?е|стр)\.\s*$/iu

/** A number of a list, a section or a day ("Samstag, 1. Februar", "3. Quartal"), unless it ends a paragraph. */
const ORDINAL = /(?:^|[^\p{L}\p{N}.,])\d{1,2}\.\s*$/u

/** A footnote number after a full stop ("2027.[1]"), which belongs to the sentence before it. */
const NOTE = /^(?:\[\p{N}{1,3}\])+/u

const SEPARATORS = [';', '\t'] as const
const MIN_SEPARATORS = 2

function areSeparatedRows(lines: readonly string[]): boolean {
  const count = (line: string, separator: string) => line.split(separator).length - 1
  return (
    lines.length > 1 &&
    SEPARATORS.some((separator) => {
      const inFirst = count(lines[0] ?? '', separator)
      return inFirst >= MIN_SEPARATORS && lines.every((line) => count(line, separator) === inFirst)
    })
  )
}

const endsInAbbreviation = (text: string) => ABBREVIATION.test(text) || ORDINAL.test(text)

export interface SentenceRange extends PassageRange {
  readonly isRow?: true
}

/** A line break inside a paragraph ends a line of the page, not a sentence. */
export function splitSentences(text: string): SentenceRange[] {
  const ranges: { start: number; end: number; isRow?: true }[] = []
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })
  for (const paragraph of text.matchAll(/(?:[^\n]|\n(?![^\S\n]*\n))+/g)) {
    if (areSeparatedRows(paragraph[0].trim().split('\n'))) {
      for (const { index, 0: row } of paragraph[0].matchAll(/[^\n]+/g))
        ranges.push({ start: paragraph.index + index, end: paragraph.index + index + row.length, isRow: true })
      continue
    }
    const joined = paragraph[0].replaceAll('\n', ' ')
    let open: { start: number; end: number } | undefined
    for (const { segment: given, index: from } of segmenter.segment(joined)) {
      let [segment, index] = [given, from]
      if (open && joined[index - 1] === '[') {
        const note = NOTE.exec(`[${segment}`)?.[0] ?? ''
        if (note !== '') {
          open.end += note.length - 1
          segment = segment.slice(note.length - 1)
          index += note.length - 1
        }
        if (segment === '') continue
      }
      const start = paragraph.index + index
      const goesOn =
        open !== undefined &&
        (endsInAbbreviation(text.slice(open.start, open.end)) || /^\p{Ll}/u.test(segment)) &&
        start + segment.length - open.start <= MAX_SENTENCE_CHARACTERS
      if (open && goesOn) open.end = start + segment.length
      else ranges.push((open = { start, end: start + segment.length }))
    }
  }
  return ranges
    .flatMap((range) => splitLong(text, range).map((piece) => ({ ...range, ...trimRange(text, piece) })))
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)))
}

/** Tables and lists have no full stops; overlong sentences are cut, but never inside a surrogate pair. */
function splitLong(text: string, { start, end }: { start: number; end: number }) {
  const pieces = []
  for (let from = start; from < end;) {
    let to = Math.min(end, from + MAX_SENTENCE_CHARACTERS)
    if (to < end && /[\ud800-\udbff]/.test(text[to - 1] ?? '')) to -= 1
    pieces.push({ start: from, end: to })
    from = to
  }
  return pieces
}

/** The range without blanks at its ends. */
export function trimRange(text: string, { start, end }: PassageRange): PassageRange {
  const slice = text.slice(start, end)
  return { start: start + slice.length - slice.trimStart().length, end: end - (slice.length - slice.trimEnd().length) }
}
