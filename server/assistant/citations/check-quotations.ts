/** Finds quotations with a source marker, in quotation marks or block quotes, that are not in their source. Pure. */

import { MAX_MARKER_WITHOUT_SOURCE, SOURCE_NUMBER } from '#contract/citation-marker.ts'

/** Full text of a source; undefined where only a part is known, so that nothing can be checked. */
type TextOf = (n: number) => string | undefined

interface Quotation {
  readonly words: string
  readonly start: number
  readonly end: number
}

/** These bound the work on an answer, which blocks the event loop; what exceeds them is not checked. */
const MAX_ANSWER_CHARACTERS = 100_000
const MAX_SOURCE_CHARACTERS = 100_000
const MAX_QUOTATIONS = 300
const MAX_QUOTED_CHARACTERS = 5_000
const MAX_OCCURRENCES = 1_000
/** Between a quotation and its marker. */
const MAX_ATTRIBUTION_CHARACTERS = 1_000
const NO_NUMBERS: ReadonlySet<number> = new Set()

const FENCED = /^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1[^\n]*$|$(?![^]))/gm
const CODE_SPAN = /(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g
const LIST_ITEM = /\n(?=\s*(?:[-*+]|\d{1,3}[.)])\s)/
/** Markers without anything but a blank between them. */
const MARKERS_TOGETHER = String.raw`\[${SOURCE_NUMBER}\](?:\s?\[${SOURCE_NUMBER}\])*`
const MARKERS = new RegExp(MARKERS_TOGETHER, 'g')
const SENTENCE_END = /[.!?]["'”’»)]*\s+(?=\S)|[。！？](?=.)/u
const QUOTED =
  /“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』|(?<![\p{L}\p{N}"])"(?=\S)([^"]+)(?<=\S)"(?![\p{L}\p{N}"])/gu
const GAP = /\[[^\]]*\]|…|\.{3,}|(?:\. ){2,}\.|\(\.\.\.\)/u

const collapse = (text: string) => text.replace(/\s+/g, ' ').trim()

const maskCode = (text: string) => text.replace(CODE_SPAN, (code) => 'x'.repeat(code.length))

interface NormalizedText {
  readonly text: string
  /** Whether a word may begin or end before each character, and at the end. */
  readonly wordBoundaries: readonly boolean[]
}

/** Letters and digits alone: case, ligatures, dashes, line breaks and hyphenation are ignored. */
function normalize(given: string): NormalizedText {
  const plain = given.normalize('NFKC').toLowerCase().normalize('NFC')
  let text = ''
  const edges: boolean[] = [true]
  for (const { 0: character, index } of plain.matchAll(/[^]/gu)) {
    const isNumeric =
      (/[.,]/.test(character) && /\d/.test(plain[index - 1] ?? '') && /\d/.test(plain[index + 1] ?? '')) ||
      (/[-−–]/.test(character) && !/\S/.test(plain[index - 1] ?? '') && /\d/.test(plain[index + 1] ?? ''))
    if (!isNumeric && !/[\p{L}\p{M}\p{N}%]/u.test(character)) {
      edges[text.length] = true
      continue
    }
    const isUnspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(character) // prettier-ignore
    if (isUnspaced) edges[text.length] = true
    const written = /[−–]/.test(character) ? '-' : character
    text += written
    for (let unit = 0; unit < written.length; unit += 1) edges.push(isUnspaced && unit === written.length - 1)
  }
  edges[text.length] = true
  return { text, wordBoundaries: edges }
}

function findWords(words: string, { text, wordBoundaries: edges }: NormalizedText, from: number): number {
  let at = text.indexOf(words, from)
  for (let tried = 0; at !== -1 && tried < MAX_OCCURRENCES; tried += 1) {
    if (edges[at] === true && edges[at + words.length] === true) return at + words.length
    at = text.indexOf(words, at + 1)
  }
  return -1
}

/** Parts separated by an ellipsis or a bracket must occur in this order. */
function containsQuotation(words: string, source: NormalizedText): boolean {
  let from = 0
  for (const piece of words.split(GAP)) {
    const { text: wanted } = normalize(piece)
    if (wanted === '') continue
    from = findWords(wanted, source, from)
    if (from === -1) return false
  }
  return true
}

/** The next marker in the sentence, else the one before the quotation. */
function attributedTo(
  block: string,
  markers: readonly Markers[],
  { start, end }: Pick<Quotation, 'start' | 'end'>,
): readonly number[] {
  const after = markers.find((own) => own.start >= end && own.start - end <= MAX_ATTRIBUTION_CHARACTERS)
  if (after && !SENTENCE_END.test(block.slice(end, after.start))) return after.numbers
  const before = markers.findLast((own) => own.end <= start && start - own.end <= MAX_ATTRIBUTION_CHARACTERS)
  if (before && !SENTENCE_END.test(`${block.slice(before.end, start)}x`)) return before.numbers
  return []
}

function quotationsIn(block: string): Quotation[] {
  return [...maskCode(block).matchAll(QUOTED)].map((match) => {
    const inner = match.slice(1).find(Boolean) ?? ''
    const start = match.index + match[0].indexOf(inner)
    return { words: block.slice(start, start + inner.length), start, end: match.index + match[0].length }
  })
}

const ATTRIBUTION_BELOW = new RegExp(String.raw`^\s*(?:[—–―(-][^\n[]{0,80})?(${MARKERS_TOGETHER})`, 'u')

const unquote = (block: string) => block.replace(/^ {0,3}> ?/gm, '')
const withoutAttribution = (quote: string) => quote.replace(/\n\s*[—–―-]{1,2}[^\n]*$/u, '')

interface Markers {
  readonly numbers: readonly number[]
  readonly start: number
  readonly end: number
}

function markersIn(text: string, sources: ReadonlySet<number>): Markers[] {
  return [...text.matchAll(MARKERS)].flatMap(({ 0: written, index: start }) => {
    const numbers = (written.match(/\d+/g) ?? [])
      .map(Number)
      .filter((n) => n <= MAX_MARKER_WITHOUT_SOURCE || sources.has(n))
    return numbers.length === 0 ? [] : [{ numbers, start, end: start + written.length }]
  })
}

/**
 * The quotations that do not occur word for word in their source, as written in the answer but with single spaces.
 * @param numbers of the sources: a larger number without one may be a year
 */
export function findMisquotes(answer: string, textOf: TextOf, numbers: ReadonlySet<number> = NO_NUMBERS): string[] {
  if (answer.search(MARKERS) === -1) return []
  const misquotes = new Set<string>()
  const known = new Map<number, NormalizedText | undefined>()
  const sourceOf = (n: number): NormalizedText | undefined => {
    if (!known.has(n)) {
      const text = textOf(n)
      known.set(n, text === undefined || text.length > MAX_SOURCE_CHARACTERS ? undefined : normalize(text))
    }
    return known.get(n)
  }
  const isFound = (words: string, sources: readonly number[]): boolean => {
    if (words.length > MAX_QUOTED_CHARACTERS) return true
    const texts = sources.map(sourceOf)
    return texts.length === 0 || texts.some((source) => source === undefined || containsQuotation(words, source))
  }
  let checked = 0
  const blocks = answer
    .slice(0, MAX_ANSWER_CHARACTERS)
    .replace(/\r\n?/g, '\n')
    .replace(FENCED, '\n\n')
    .split(/\n\s*\n/)
    .flatMap((block) => block.split(LIST_ITEM))
  for (const [index, block] of blocks.entries()) {
    const isBlockQuote = /^ {0,3}>/.test(block)
    const inner = isBlockQuote ? unquote(block) : block
    const quotations = quotationsIn(inner).slice(0, MAX_QUOTATIONS - checked)
    checked += quotations.length
    const markers = markersIn(inner, numbers)
    const missing = quotations.filter(({ words, ...at }) => !isFound(words, attributedTo(inner, markers, at)))
    if (!isBlockQuote) {
      for (const { words } of missing) misquotes.add(collapse(words))
      continue
    }
    const own = markers.at(-1)?.numbers ?? []
    const below = ATTRIBUTION_BELOW.exec(blocks[index + 1] ?? '')?.[1] ?? ''
    const sources = own.length > 0 ? own : (markersIn(below, numbers)[0]?.numbers ?? [])
    const hasQuotedAll = quotations.length > 0 && missing.length === 0
    if (!hasQuotedAll && !isFound(withoutAttribution(inner), sources)) misquotes.add(collapse(inner))
  }
  return [...misquotes]
}
