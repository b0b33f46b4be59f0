import { compoundFiles } from '#server/parsing/containers/compound-file.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { addressBehind } from '#server/parsing/links.ts'
import { readWord95Layout } from './layout-word95.ts'
import { readWord97Layout, readStream } from './layout-word97.ts'
import { FIRST_FORM_VALUE, joinPieces, type ParagraphEnd, type WordLayout } from './pieces.ts'
import { createView } from './properties.ts'
import { headingMark } from './recover-text.ts'

const FLAGS_OFFSET = 0x0a
const ENCRYPTED_FLAG = 0x0100
/** Magic number of Word 6 and 95, whose header differs. */
const WORD_95 = 0xa5dc
const PARTS = [
  'body',
  'footnotes',
  'headers',
  'macros',
  'comments',
  'endnotes',
  'textboxes',
  'headerTextboxes',
] as const
type Part = (typeof PARTS)[number]

export type WordParts = Readonly<Record<Part, string>>

/**
 * Cells end in tabs, rows and paragraphs in line ends. `keepsDeleted` includes hidden text, to compare with programs
 * that print it.
 * @throws ParseFailure `encrypted`; Error if the file is damaged.
 */
export function readWordBinary(bytes: Uint8Array, { keepsDeleted = false, marksHeadings = false } = {}): WordParts {
  const file = compoundFiles.read(bytes, { type: 'buffer' })
  const document = readStream(file, 'WordDocument')
  const fib = createView(document)
  if ((fib.getUint16(FLAGS_OFFSET, true) & ENCRYPTED_FLAG) !== 0) throw new ParseFailure('encrypted')
  const layout = fib.getUint16(0, true) === WORD_95 ? readWord95Layout(document) : readWord97Layout(file, document)
  const { text, ends, formValues } = joinPieces(layout, {
    keepsDeleted,
    bodyLength: fib.getUint32(layout.lengths, true),
  })
  const labels = numberParagraphs(layout.numbering, ends)
  if (marksHeadings) markHeadings(ends, labels)
  let from = 0
  const parts = PARTS.map((part, index): [Part, string] => {
    const length = fib.getUint32(layout.lengths + 4 * index, true)
    const written = insertLabels(text, from, from + length, labels)
    from += length
    return [part, toText(written, formValues)]
  })
  return Object.fromEntries(parts) as Record<Part, string>
}

function numberParagraphs(numbering: WordLayout['numbering'], ends: readonly ParagraphEnd[]): Map<number, string> {
  const labels = new Map<number, string>()
  let labelOf: ReturnType<WordLayout['numbering']>
  try {
    labelOf = numbering()
  } catch (error) {
    // Broken list tables cost the numbers, not the text.
    if (error instanceof RangeError) return labels
    throw error
  }
  let start = 0
  for (const { at, style, properties } of ends) {
    const label = labelOf(style, properties)
    if (label !== '') labels.set(start, `${label} `)
    start = at + 1
  }
  return labels
}

/** Styles 1 to 9 are headings in every document (MS-DOC 2.9.271). */
const MAX_HEADING_LEVEL = 9

function markHeadings(ends: readonly ParagraphEnd[], labels: Map<number, string>): void {
  let start = 0
  for (const { at, style } of ends) {
    if (style >= 1 && style <= MAX_HEADING_LEVEL) labels.set(start, headingMark(style) + (labels.get(start) ?? ''))
    start = at + 1
  }
}

function insertLabels(text: string, from: number, to: number, labels: ReadonlyMap<number, string>): string {
  let written = ''
  let done = from
  for (const [start, label] of [...labels].toSorted(([one], [other]) => one - other)) {
    if (start < from || start >= to) continue
    written += `${text.slice(done, start)}${label}`
    done = start
  }
  return written + text.slice(done, to)
}

const [FIELD_BEGINS, FIELD_RESULT, FIELD_ENDS] = ['\u0013', '\u0014', '\u0015'] as const
const LINE_ENDS = /[\r\v\f\u000e]/g
/** Anchors of pictures, notes and comments, soft hyphens, and deleted text. */
const NOTHING_TO_READ = /[\0-\u0006\u0008\u000f-\u001d\u001f]/g

interface Field {
  instruction: string
  /** Where its result begins; undefined before that. */
  start: number | undefined
}

/** The target of a link follows its instruction in quotation marks; "\\l" before it names a place in the document. */
const LINK = /^\s*HYPERLINK\s+"([^"]+)"/i

const FORM_FIELD = /^\s*FORM(?:DROPDOWN|TEXT)(?!\p{L})/iu

/** The value of a form field, whose data stand in its instruction. */
function findFormValue({ instruction }: Field, formValues: readonly string[]): string {
  if (!FORM_FIELD.test(instruction)) return ''
  const numbers = Array.from(instruction, (_, index) => instruction.charCodeAt(index) - FIRST_FORM_VALUE)
  return formValues[numbers.find((number) => number in formValues) ?? -1] ?? ''
}

function toText(written: string, formValues: readonly string[]): string {
  let shown = ''
  const fields: Field[] = []
  for (const part of written.split(/([\u0013-\u0015])/)) {
    const field = fields.at(-1)
    if (part === FIELD_BEGINS) fields.push({ instruction: '', start: undefined })
    else if (part === FIELD_RESULT && field) field.start = shown.length
    else if (part === FIELD_ENDS) {
      fields.pop()
      const target = LINK.exec(field?.instruction ?? '')?.[1]
      const isShown = fields.every(({ start }) => start !== undefined)
      if (target !== undefined && field?.start !== undefined && isShown)
        shown += addressBehind(shown.slice(field.start), target)
      const isEmpty = field !== undefined && (field.start === undefined || shown.slice(field.start).trim() === '')
      if (isEmpty && isShown) shown += findFormValue(field, formValues)
    } else if (fields.every(({ start }) => start !== undefined)) shown += part
    else if (field) field.instruction += part
  }
  return shown
    .replaceAll(LINE_ENDS, '\n')
    .replaceAll('\u0007', '\t')
    .replaceAll('\u001e', '\u2011')
    .replaceAll(NOTHING_TO_READ, '')
}
