/** Finds lists in the text of a page, and questions for several things. Pure. */
import { BULLETS } from '#server/parsing/symbol-fonts.ts'
import type { PassageRange } from '#server/search/text/passages.ts'

/** A longer list is cut after an item. */
const MAX_LIST_CHARACTERS = 1_500
const MIN_ITEMS = 2
/** Longer text before a list is no introduction of it. */
const MAX_INTRODUCTION_CHARACTERS = 300
/** A line of this share of the longest line is wrapped: the next one goes on with it. */
const WRAPPED_SHARE = 0.7

const ROMAN = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x']
/** Bullets, also those of a symbol font without a character ("\u0002"), or a number or letter with a full stop or bracket. */
const MARKER = new RegExp(
  String.raw`^[^\S\n]*(?:(?<bullet>[${BULLETS}\u0001-\u0008•▪◦‣●○■□◆–—*+·-])|(?<open>\(?)(?<label>\p{Nd}{1,3}|[ivx]{2,4}|\p{L})(?<close>[.)]))[^\S\n]+(?=\S)`,
  'iu',
)
const ENDS_IN_COLON = /[:：]\s*$/u

interface Line extends PassageRange {
  readonly text: string
  readonly isAfterBlank: boolean
  readonly marker?: { readonly kind: string; readonly label: string; readonly length: number }
}

export interface List extends PassageRange {
  readonly items: readonly PassageRange[]
}

function linesOf(text: string): Line[] {
  let end = 0
  return [...text.matchAll(/[^\n]+/g)]
    .filter(([line]) => line.trim() !== '')
    .map(({ index, 0: line }) => {
      const isAfterBlank = /\n\s*\n/.test(text.slice(end, index + 1))
      end = index + line.trimEnd().length
      const found = MARKER.exec(line)
      const { bullet, open = '', label = '', close = '' } = found?.groups ?? {}
      const kind = bullet ?? `${open}${/\p{Nd}/u.test(label) ? '1' : 'a'}${close}`
      const marker = found ? { marker: { kind, label: label.toLowerCase(), length: found[0].length } } : {}
      return { start: index, end, text: line.trimEnd(), isAfterBlank, ...marker }
    })
}

function isNextLabel(before: string, label: string): boolean {
  if (label === '') return true
  if (/\p{Nd}/u.test(label)) return Number(label) === Number(before) + 1
  const roman = ROMAN.indexOf(label)
  return (roman > 0 && ROMAN[roman - 1] === before) || label.codePointAt(0) === (before.codePointAt(0) ?? 0) + 1
}

function goesOn(line: Line, before: Line, longest: number): boolean {
  const isUnfinished = !/[.:;!?。；：]$/u.test(before.text)
  if (line.isAfterBlank) return isUnfinished && /^\s*\p{Ll}/u.test(line.text)
  return /^\s*\p{Ll}/u.test(line.text) || (isUnfinished && before.text.length >= WRAPPED_SHARE * longest)
}

/** Reads a list from its first line; lists inside it, below an item that ends in a colon, belong to it. */
function readList(lines: readonly Line[], from: number, longest: number): { list: List; next: number } {
  const open: { kind: string; label: string }[] = []
  const items: { start: number; end: number }[] = []
  let next = from
  for (; next < lines.length; next += 1) {
    const [line, before, item] = [lines[next], lines[next - 1], items.at(-1)]
    if (!line) break
    if (!line.marker) {
      if (!item || !before || !goesOn(line, before, longest)) break
      item.end = line.end
      continue
    }
    const { kind, label } = line.marker
    const level = open.findIndex((other) => other.kind === kind)
    const last = open[level]
    if (last) {
      if (!isNextLabel(last.label, label)) break
      open.splice(level)
    } else if (item && !(before && ENDS_IN_COLON.test(before.text))) break
    open.push({ kind, label })
    items.push({ start: line.start + line.text.length - line.text.trimStart().length, end: line.end })
  }
  const first = items[0]?.start ?? 0
  const shown = items.filter(({ end }, index) => index === 0 || end - first <= MAX_LIST_CHARACTERS)
  return { list: { start: first, end: shown.at(-1)?.end ?? first, items: shown }, next: Math.max(next, from + 1) }
}

/** Paragraphs below a colon that end in semicolons or commas, and the one after the last of these. */
function readUnmarkedList(lines: readonly Line[], from: number): List | undefined {
  const items: PassageRange[] = []
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at]
    if (!line) break
    items.push({ start: line.start, end: line.end })
    if (!/[;；,、]\s*(?:and|or|und|oder|et|ou|y|o|e|en|of|и|или)?$/iu.test(line.text)) break
  }
  const [first, last] = [items[0], items.at(-1)]
  return first && last && items.length > MIN_ITEMS && last.end - first.start <= MAX_LIST_CHARACTERS
    ? { start: first.start, end: last.end, items }
    : undefined
}

export function findLists(text: string): List[] {
  const lines = linesOf(text)
  const longest = lines.reduce((most, line) => Math.max(most, line.text.length), 0)
  const lists: List[] = []
  for (let at = 0; at < lines.length;) {
    const marked = lines[at]?.marker ? readList(lines, at, longest) : undefined
    if (marked && marked.list.items.length >= MIN_ITEMS) {
      lists.push(marked.list)
      at = marked.next
      continue
    }
    const unmarked = ENDS_IN_COLON.test(lines[at]?.text ?? '') ? readUnmarkedList(lines, at + 1) : undefined
    if (unmarked) lists.push(unmarked)
    at += 1
  }
  return lists
}

/** Numbers and letters of items stay, since texts refer to them. */
export const withoutBullet = (item: string): string => {
  const found = MARKER.exec(item)
  return found?.groups?.['bullet'] === undefined ? item : item.slice(found[0].length)
}

/** Start of the sentence or title right before a list. */
function introductionOf(text: string, list: List): number {
  const from = Math.max(0, list.start - MAX_INTRODUCTION_CHARACTERS)
  const before = text.slice(from, list.start).trimEnd()
  const breaks = [...before.matchAll(/(?:[.!?…]["”»)]*\s+|[。！？]\s*|\n\s*\n\s*)(?=\S)/gu)]
  const last = breaks.at(-1)
  if (last) return from + last.index + last[0].length
  return from === 0 ? before.length - before.trimStart().length : list.start
}

/**
 * The list that a quotation introduces or, where several things are asked for, is part of, with its introduction.
 * Undefined if there is none.
 */
export function listRangeOf(
  text: string,
  lists: readonly List[],
  quote: PassageRange,
  asksForAll: boolean,
): PassageRange | undefined {
  const list = lists.find(({ start, end }) => start < quote.end + 3 && quote.start < end)
  if (!list || list.end < quote.start) return undefined
  const isIntroduced = quote.start < list.start && ENDS_IN_COLON.test(text.slice(quote.start, list.start))
  if (!isIntroduced && !asksForAll) return undefined
  return { start: Math.min(quote.start, introductionOf(text, list)), end: list.end }
}

const SEVERAL = new RegExp(
  [
    String.raw`(?<!\p{L})(?:(?:what|which|who) (?:are|were)|(?:what|which) (?:\S+ ){0,3}?(?!(?:is|was|does|has|this|its|always|gas|bus|pass|class|process|business|address|status|access)(?!\p{L}))\p{L}{2,}s(?!\p{L})|lists?|name (?:the|all|some)|enumerate)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:welche(?:n|r)? (?:\S+ ){0,2}?\p{L}{3,}(?:en|er|e|n|s)|was sind|wer sind|nenne|liste|zähle)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:quels|quelles|liste[rz]?|énumère[rz]?|cuáles|enumera|qué (?:\S+ ){0,2}?\p{L}{3,}s|quali|elenca|quais|welke (?:\S+ ){0,2}?\p{L}{3,}(?:en|s)|wat zijn|hvilke|vilka|mitkä|jakie|które|wymień|jaké|které|hangi(?:leri)?|nelerdir|care sunt|ποιες|ποια|ποιοι|какие|каковы|перечисл\p{L}*|назови\p{L}*|які|перелічи\p{L}*)(?!\p{L})`,
    '哪些|哪几|哪幾|列出|列举|どんな.*(?:ありますか|何か)|挙げ|一覧|何と何|어떤 것들|나열|열거|무엇무엇|ما هي|اذكر|عدد',
  ].join('|'),
  'iu',
)

/** Whether a question asks for several things ("Which conditions …?", "What are the …?"). */
export const asksForSeveral = (question: string): boolean => SEVERAL.test(question)
