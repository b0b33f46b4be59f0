/**
 * Text of a Word document of the years 1997 to 2003 (MS-DOC): its pieces in the order of the document, without what was
 * deleted under revision, without the instructions of fields, and with the numbers of lists.
 */
import { compoundFiles } from './compound-file.ts'
import { ParseFailure } from './failure.ts'
import { readWordNumbering } from './word-lists.ts'
import { listProperties, viewOf } from './word-properties.ts'

/** Offsets in the File Information Block (MS-DOC 2.5). */
const FIB = {
  flags: 0x0a,
  lengths: 0x4c,
  characterRuns: 0xfa,
  paragraphRuns: 0x102,
  pieces: 0x1a2,
} as const
const SECOND_TABLE_FLAG = 0x0200
const ENCRYPTED_FLAG = 0x0100
/** What documents of Word 6 and 95 begin with, whose header is another one. */
const WORD_95 = 0xa5dc
/** The parts of the text, in the order in which they follow each other (FibRgLw97). */
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

const BLOCK_BYTES = 512
const MARKED_DELETED = 0x0800
const ENDS_ROW = 0x2417
const CELL_END = 0x07
const PARAGRAPH_ENDS: readonly string[] = ['\r', '\f', '\n', '\u0007']
/** More than any document has: a broken table would make as many as its numbers say. */
const MOST_CHARACTERS = 30_000_000

export type WordParts = Readonly<Record<Part, string>>

interface Stretch {
  readonly from: number
  readonly to: number
}

/**
 * The text of each part. Cells end in tabs and rows in line ends; paragraphs end in line ends. What was deleted under
 * revision is kept only for a comparison with programs that print it.
 * @throws ParseFailure `unsupported_old_word`, `encrypted`
 * @throws Error where the file is damaged.
 */
export function readWordBinary(bytes: Uint8Array, { keepsDeleted = false } = {}): WordParts {
  const file = compoundFiles.read(bytes, { type: 'buffer' })
  const document = streamOf(file, 'WordDocument')
  const fib = viewOf(document)
  const flags = fib.getUint16(FIB.flags, true)
  if (fib.getUint16(0, true) === WORD_95) throw new ParseFailure('unsupported_old_word')
  if ((flags & ENCRYPTED_FLAG) !== 0) throw new ParseFailure('encrypted')
  const isSecond = (flags & SECOND_TABLE_FLAG) !== 0
  const table = streamOf(file, isSecond ? '1Table' : '0Table')
  const deleted = keepsDeleted
    ? []
    : listRuns(document, table, FIB.characterRuns, readCharacterRun).filter(isMarked(MARKED_DELETED))
  const paragraphs = listRuns(document, table, FIB.paragraphRuns, readParagraphRun)
  const { text, ends } = readPieces(document, table, { deleted, paragraphs })
  const labels = numberParagraphs(document, table, ends)
  let from = 0
  const parts = PARTS.map((part, index): [Part, string] => {
    const length = fib.getUint32(FIB.lengths + 4 * index, true)
    const written = withLabels(text, from, from + length, labels)
    from += length
    return [part, toText(written)]
  })
  return Object.fromEntries(parts) as Record<Part, string>
}

function streamOf(file: object, name: string): Uint8Array {
  // From the root: documents that are embedded in this one have streams of the same names.
  const content = compoundFiles.find(file, `/${name}`)?.content
  if (!content) throw new Error(`the file has no stream ${name}`)
  return new Uint8Array(content)
}

/** A property list of formatting that holds for a stretch of the file. */
interface Run extends Stretch {
  /** The number of the style, of paragraphs. */
  readonly style: number
  readonly properties: Uint8Array
}

/** Where a paragraph ends in the text, and its formatting. */
interface ParagraphEnd extends Pick<Run, 'style' | 'properties'> {
  readonly at: number
}

/** Runs are kept in blocks of the document's stream, which a table of the other stream lists (MS-DOC 2.8.5, 2.8.6). */
function listRuns(
  document: Uint8Array,
  table: Uint8Array,
  fibOffset: number,
  read: (block: Uint8Array, index: number, count: number) => Pick<Run, 'style' | 'properties'>,
): Run[] {
  const fib = viewOf(document)
  const start = fib.getUint32(fibOffset, true)
  const entries = viewOf(table.subarray(start, start + fib.getUint32(fibOffset + 4, true)))
  const count = Math.floor((entries.byteLength - 4) / 8)
  const runs: Run[] = []
  for (let index = 0; index < count; index += 1) {
    const number = entries.getUint32((count + 1) * 4 + index * 4, true) & 0x3fffff
    const block = document.subarray(number * BLOCK_BYTES, (number + 1) * BLOCK_BYTES)
    if (block.length < BLOCK_BYTES) continue
    const view = viewOf(block)
    const runCount = block[BLOCK_BYTES - 1] ?? 0
    if ((runCount + 1) * 4 > BLOCK_BYTES - 1) continue
    for (let run = 0; run < runCount; run += 1)
      runs.push({
        from: view.getUint32(run * 4, true),
        to: view.getUint32(run * 4 + 4, true),
        ...read(block, run, runCount),
      })
  }
  return runs
}

const UNFORMATTED = { style: 0, properties: new Uint8Array() } as const

/** MS-DOC 2.9.33 */
function readCharacterRun(block: Uint8Array, index: number, count: number): Pick<Run, 'style' | 'properties'> {
  const at = 2 * (block[(count + 1) * 4 + index] ?? 0)
  return at === 0 ? UNFORMATTED : { style: 0, properties: block.subarray(at + 1, at + 1 + (block[at] ?? 0)) }
}

/** MS-DOC 2.9.175: each entry has 13 bytes, and the list begins behind the number of the style. */
function readParagraphRun(block: Uint8Array, index: number, count: number): Pick<Run, 'style' | 'properties'> {
  const at = 2 * (block[(count + 1) * 4 + index * 13] ?? 0)
  if (at === 0) return UNFORMATTED
  const words = block[at] ?? 0
  const [start, length] = words === 0 ? [at + 2, 2 * (block[at + 1] ?? 0)] : [at + 1, 2 * words - 1]
  if (length < 2 || start + 2 > BLOCK_BYTES) return UNFORMATTED
  return { style: viewOf(block).getUint16(start, true), properties: block.subarray(start + 2, start + length) }
}

const isMarked =
  (property: number) =>
  ({ properties }: Pick<Run, 'properties'>): boolean => {
    for (const { number, operand } of listProperties(properties))
      // 0x81 stands for "other than the style says", and no style is deleted or the end of a row.
      if (number === property) return (operand.getUint8(0) & 1) === 1
    return false
  }
const endsRow = isMarked(ENDS_ROW)

const windows1252 = new TextDecoder('windows-1252')
const utf16 = new TextDecoder('utf-16le')

/**
 * The whole text, one UTF-16 code unit for each position; what is deleted is U+0000 (MS-DOC 2.4.1). And where its
 * paragraphs end, in their order.
 */
function readPieces(
  document: Uint8Array,
  table: Uint8Array,
  { deleted, paragraphs }: { readonly deleted: readonly Run[]; readonly paragraphs: readonly Run[] },
): { readonly text: string; readonly ends: readonly ParagraphEnd[] } {
  const view = viewOf(table)
  let at = viewOf(document).getUint32(FIB.pieces, true)
  while (view.getUint8(at) === 1) at += 3 + view.getUint16(at + 1, true)
  if (view.getUint8(at) !== 2) throw new Error('the table of pieces is broken')
  const count = Math.floor((view.getUint32(at + 1, true) - 4) / 12)
  const positions = at + 5
  const descriptors = positions + (count + 1) * 4
  const ends: ParagraphEnd[] = []
  let text = ''
  for (let piece = 0; piece < count; piece += 1) {
    const from = view.getUint32(positions + piece * 4, true)
    const length = view.getUint32(positions + piece * 4 + 4, true) - from
    if (length < 0 || text.length + length > MOST_CHARACTERS) throw new Error('a piece is broken')
    const place = view.getUint32(descriptors + piece * 8 + 2, true)
    const isNarrow = (place & 0x40000000) !== 0
    const width = isNarrow ? 1 : 2
    const start = isNarrow ? (place & 0x3fffffff) >>> 1 : place & 0x3fffffff
    const stretch = { from: start, to: start + length * width }
    const decoded = (isNarrow ? windows1252 : utf16).decode(document.subarray(stretch.from, stretch.to))
    const written = Array.from({ length: decoded.length }, (_, unit) => decoded.charAt(unit))
    for (const range of overlaps(deleted, stretch))
      written.fill('\0', (range.from - start) / width, (range.to - start) / width)
    for (const { to, style, properties } of overlaps(paragraphs, stretch)) {
      const last = Math.floor((to - start) / width) - 1
      if (written[last]?.charCodeAt(0) === CELL_END && endsRow({ properties })) written[last] = '\n'
      if (PARAGRAPH_ENDS.includes(written[last] ?? '')) ends.push({ at: text.length + last, style, properties })
    }
    text += written.join('')
  }
  return { text, ends: ends.toSorted((one, other) => one.at - other.at) }
}

const overlaps = (runs: readonly Run[], { from, to }: Stretch): Run[] =>
  runs.flatMap((run) =>
    run.from < to && from < run.to ? [{ ...run, from: Math.max(run.from, from), to: Math.min(run.to, to) }] : [],
  )

/** The numbers of paragraphs in lists, by where the paragraph begins. */
function numberParagraphs(
  document: Uint8Array,
  table: Uint8Array,
  ends: readonly ParagraphEnd[],
): ReadonlyMap<number, string> {
  const labels = new Map<number, string>()
  let labelOf: ReturnType<typeof readWordNumbering>
  try {
    labelOf = readWordNumbering(document, table)
  } catch (error) {
    // Broken tables of lists cost the numbers, not the text.
    if (error instanceof RangeError) return labels
    throw error
  }
  let start = 0
  for (const { at, style, properties } of ends) {
    const label = labelOf(style, properties)
    if (label !== '') labels.set(start, label)
    start = at + 1
  }
  return labels
}

function withLabels(text: string, from: number, to: number, labels: ReadonlyMap<number, string>): string {
  let written = ''
  let done = from
  for (const [start, label] of labels) {
    if (start < from || start >= to) continue
    written += `${text.slice(done, start)}${label} `
    done = start
  }
  return written + text.slice(done, to)
}

const [FIELD_BEGINS, FIELD_RESULT, FIELD_ENDS] = ['\u0013', '\u0014', '\u0015'] as const
const LINE_ENDS = /[\r\v\f\u000e]/g
/** Places of pictures, notes and comments, soft hyphens, and what was deleted. */
const NOTHING_TO_READ = /[\0-\u0006\u0008\u000f-\u001d\u001f]/g

function toText(written: string): string {
  let shown = ''
  // For each open field whether its instructions go on.
  const fields: boolean[] = []
  for (const part of written.split(/([\u0013-\u0015])/)) {
    if (part === FIELD_BEGINS) fields.push(true)
    else if (part === FIELD_RESULT && fields.length > 0) fields[fields.length - 1] = false
    else if (part === FIELD_ENDS) fields.pop()
    else if (!fields.includes(true)) shown += part
  }
  return shown
    .replaceAll(LINE_ENDS, '\n')
    .replaceAll('\u0007', '\t')
    .replaceAll('\u001e', '\u2011')
    .replaceAll(NOTHING_TO_READ, '')
}
