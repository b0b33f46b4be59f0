/** Splits an answer into sentences, each with the sources that it cites: its own markers, else those of its block. Pure. */
import { MARKER } from '#contract/citation-marker.ts'
import { splitSentences } from '#server/search/text/split-sentences.ts'

export interface CitedSentence {
  /** In the text of the block. */
  readonly start: number
  readonly end: number
  readonly cited: readonly number[]
}

export interface AnswerBlock {
  readonly kind: 'paragraph' | 'item' | 'row' | 'heading'
  /** The words without markers, emphasis and addresses of links. */
  readonly text: string
  /** The offset in the answer of each character of `text`. */
  readonly offsets: readonly number[]
  /** Blocks of one list, table or quotation have the same number. */
  readonly group: number
  readonly sentences: readonly CitedSentence[]
  /** Markers in the block itself. */
  readonly markers: readonly number[]
}

interface RawBlock {
  readonly kind: AnswerBlock['kind']
  readonly start: number
  end: number
  readonly group: number
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/
const ITEM = /^\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s/
const TABLE_RULE = /^ {0,3}\|?[ :|-]*-[ :|-]*$/
const QUOTE = /^ {0,3}>/

/** Lines of the answer as blocks; code has no sentences. */
function rawBlocks(answer: string): RawBlock[] {
  const blocks: RawBlock[] = []
  let group = 0
  let open: RawBlock | undefined
  let fence: string | undefined
  let wasItem = false
  let at = 0
  for (const line of answer.split('\n')) {
    const [start, end] = [at, at + line.length]
    at = end + 1
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined
      continue
    }
    if (mark !== undefined) {
      fence = mark
      open = undefined
      continue
    }
    if (line.trim() === '') {
      open = undefined
      continue
    }
    if (HEADING.test(line)) {
      blocks.push({ kind: 'heading', start, end, group: (group += 1) })
      open = undefined
      wasItem = false
      continue
    }
    const isRow = line.includes('|') && (/^ {0,3}\|/.test(line) || blocks.at(-1)?.kind === 'row')
    if (isRow) {
      const last = blocks.at(-1)
      if (last?.kind !== 'row' || answer.slice(last.end, start).trim() !== '') group += 1
      if (!TABLE_RULE.test(line)) blocks.push({ kind: 'row', start, end, group })
      open = undefined
      wasItem = false
      continue
    }
    const item = ITEM.exec(line.replace(QUOTE, (quote) => ' '.repeat(quote.length)))
    if (item) {
      if (!wasItem) group += 1
      open = { kind: 'item', start: start + item[0].length, end, group }
      blocks.push(open)
      wasItem = true
      continue
    }
    if (open) {
      open.end = end
      continue
    }
    // An indented paragraph belongs to the item above it.
    const isInItem = wasItem && /^\s{2,}/.test(line)
    if (!isInItem) {
      group += 1
      wasItem = false
    }
    open = { kind: isInItem ? 'item' : 'paragraph', start, end, group }
    blocks.push(open)
  }
  return blocks
}

const MARKER_HERE = new RegExp(String.raw`\s?${MARKER}`, 'y')
const ENTITY = /&(nbsp|thinsp|ensp|amp|lt|gt|quot|#160|#8239);/y
const ENTITIES: Readonly<Record<string, string>> = { nbsp: ' ', thinsp: ' ', ensp: ' ', '#160': ' ', '#8239': ' ', amp: '&', lt: '<', gt: '>', quot: '"' } // prettier-ignore
const LINK_TARGET = /\]\([^\s()]{0,2000}(?: "[^"\n]{0,200}")?\)/y
const CODE_SPAN = /(`{1,3})(?!`)[^`\n]{1,500}\1(?!`)/y
const TAG = /<\/?[a-z][a-z0-9]{0,10}(?: [^<>\n]{0,200})?\/?>/iy

const DIRECTION_MARK = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

interface PlainBlock {
  readonly text: string
  readonly offsets: readonly number[]
  /** Where each marker stood in `text`. */
  readonly markers: readonly { readonly n: number; readonly at: number }[]
}

/** Leaves Markdown out of a part of an answer, and notes where its characters and markers stood. */
function toPlain(answer: string, { start, end }: RawBlock, known: ReadonlySet<number>): PlainBlock {
  const markers: { n: number; at: number }[] = []
  const offsets: number[] = []
  let text = ''
  const add = (characters: string, offset: number) => {
    text += characters
    for (let index = 0; index < characters.length; index += 1) offsets.push(offset + index)
  }
  let isLineStart = true
  for (let at = start; at < end;) {
    const character = answer.charAt(at)
    if (isLineStart && /[>\s]/.test(character)) {
      at += 1
      continue
    }
    isLineStart = false
    if (character === '\n') {
      add('\n', at)
      isLineStart = true
      at += 1
      continue
    }
    if (character === '[' || /\s/.test(character)) {
      const marker = matchAt(MARKER_HERE, answer, at)
      if (marker && known.has(Number(marker[1])) && answer.charAt(MARKER_HERE.lastIndex) !== '(') {
        markers.push({ n: Number(marker[1]), at: text.length })
        at += marker[0].length
        continue
      }
    }
    if (character === '`') {
      const code = matchAt(CODE_SPAN, answer, at)
      if (code) {
        add(' ', at)
        at += code[0].length
        continue
      }
    }
    if (character === ']') {
      const target = matchAt(LINK_TARGET, answer, at)
      if (target) {
        at += target[0].length
        continue
      }
    }
    if (character === '&') {
      const entity = matchAt(ENTITY, answer, at)
      if (entity) {
        add(ENTITIES[entity[1] ?? ''] ?? ' ', at)
        at += entity[0].length
        continue
      }
    }
    if (character === '<') {
      const tag = matchAt(TAG, answer, at)
      if (tag) {
        add(' ', at)
        at += tag[0].length
        continue
      }
    }
    const [before, after] = [answer.charAt(at - 1), answer.charAt(at + 1)]
    const isEmphasis =
      (character === '*' && !(before === ' ' && after === ' ')) ||
      (character === '_' && !(/[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after))) ||
      (character === '~' && (before === '~' || after === '~'))
    if (DIRECTION_MARK.test(character)) {
      at += 1
      continue
    }
    const isEscape = character === '\\' && /[!-/:-@[-`{-~]/.test(after)
    if (!isEmphasis && !isEscape) add(character, at)
    at += 1
    if (isEscape) {
      add(after, at)
      at += 1
    }
  }
  return { text, offsets, markers }
}

function toBlock(plain: PlainBlock, { kind, group }: RawBlock): AnswerBlock {
  const ranges = kind === 'row' ? [{ start: 0, end: plain.text.length }] : splitSentences(plain.text)
  const sentences = ranges.map(({ start, end }) => ({ start, end, cited: new Set<number>() }))
  for (const { n, at } of plain.markers) {
    // A marker behind the full stop belongs to the sentence before it.
    const own = sentences.findLast(({ start }) => start < at) ?? sentences[0]
    own?.cited.add(n)
  }
  const markers = [...new Set(plain.markers.map(({ n }) => n))]
  return {
    kind,
    group,
    text: plain.text,
    offsets: plain.offsets,
    markers,
    sentences: sentences.map(({ start, end, cited }) => ({ start, end, cited: cited.size > 0 ? [...cited] : markers })),
  }
}

const MAX_SOURCE_LINE = 40

/** Markers of the neighbours for a list, table or paragraph without any: of its introduction, or a line of sources below. */
function neighbouringMarkers(blocks: readonly AnswerBlock[], first: number, last: number): readonly number[] {
  const before = blocks[first - 1]
  if (before && before.markers.length > 0 && /[:：]\s*$/.test(before.text)) return before.markers
  const after = blocks[last + 1]
  const isSourceLine = after !== undefined && after.markers.length > 0 && after.text.trim().length <= MAX_SOURCE_LINE
  return isSourceLine && !/\d/.test(after.text) ? after.markers : []
}

/** Headings cite nothing but their own markers. */
function inheritMarkers(blocks: readonly AnswerBlock[]): AnswerBlock[] {
  const inherited: AnswerBlock[] = []
  for (let first = 0; first < blocks.length;) {
    let last = first
    while (blocks[last + 1]?.group === blocks[first]?.group) last += 1
    const group = blocks.slice(first, last + 1)
    const own = [...new Set(group.flatMap(({ markers }) => markers))]
    const isHeading = group[0]?.kind === 'heading'
    const shared = own.length > 0 || isHeading ? own : neighbouringMarkers(blocks, first, last)
    for (const block of group)
      inherited.push({
        ...block,
        sentences: block.sentences.map((sentence) =>
          sentence.cited.length > 0 ? sentence : { ...sentence, cited: shared },
        ),
      })
    first = last + 1
  }
  return inherited
}

/** @param known the numbers of sources; other numbers in brackets are words of the answer */
export function citedBlocks(answer: string, known: ReadonlySet<number>): AnswerBlock[] {
  return inheritMarkers(rawBlocks(answer).map((block) => toBlock(toPlain(answer, block, known), block)))
}
