/** Small numbers that count what the answer or its passage lists: "three reasons" before a list of three. Pure. */
import type { AnswerBlock, CitedSentence } from '#server/assistant/citations/cited-sentences.ts'
import type { FigureText } from './compare-figures.ts'
import type { NumberFigure } from './figures.ts'

const MAX_COUNT = 20
const AND = /,? (?:and|und|et|y|e|og|och|en|i|и|or|oder|ou|o|sowie|as well as) |[、，]|(?:と|和|及|및) ?/gu

/** Lengths of the enumerations in a sentence: "A, B and C" is three. */
function enumerated(sentence: string): number[] {
  const separators = sentence.split(/[,;、，]/).length - 1
  const joined = (sentence.match(AND) ?? []).length
  return [separators + 1, separators + 2, joined + 1, sentence.split(/;/).length].filter(
    (count) => count >= 2 && count <= MAX_COUNT,
  )
}

const isListed = ({ kind }: AnswerBlock) => kind === 'item' || kind === 'row'

/** Items of the group that a block belongs to. More than can be counted for are left out. */
function groupSize(blocks: readonly AnswerBlock[], index: number): number {
  const group = blocks[index]?.group
  let [first, last] = [index, index]
  while (blocks[first - 1]?.group === group && index - first <= MAX_COUNT) first -= 1
  while (blocks[last + 1]?.group === group && last - index <= MAX_COUNT) last += 1
  return blocks.slice(first, last + 1).filter(isListed).length
}

/** Items below the sentence, in its own list, in the sentence itself, and the sources that it cites. */
export function countsOf(blocks: readonly AnswerBlock[], index: number, sentence: CitedSentence): ReadonlySet<number> {
  const block = blocks[index]
  if (!block) return new Set()
  const next = blocks.findIndex(({ group }, at) => at > index && group !== block.group)
  const sizes = [groupSize(blocks, index), next === -1 ? 0 : groupSize(blocks, next)]
  return new Set([
    ...sizes,
    ...(blocks[next]?.kind === 'row' || block.kind === 'row' ? sizes.map((size) => size - 1) : []),
    sentence.cited.length,
    ...enumerated(block.text.slice(sentence.start, sentence.end)),
    block.sentences.filter(({ start }) => start > sentence.start).length,
  ])
}

const NOUN = /^[ -](?:[\p{Ll}\p{M}]+ )?([\p{L}\p{M}]{4,})/u
const STEM = 5

/** Whether the passage counts the same things otherwise: "seven directors" against "five directors". */
function isCountedOtherwise({ end, readings }: NumberFigure, folded: string, text: FigureText): boolean {
  const noun = NOUN.exec(folded.slice(end, end + 40))?.[1]?.slice(0, STEM)
  if (noun === undefined) return false
  return text.numbers.some((fact) => !fact.unit && fact.readings[0]?.value !== readings[0]?.value && (fact.isWord || Number.isInteger(fact.readings[0]?.value)) && nounBehind(fact, text, noun)) // prettier-ignore
}

const nounBehind = (fact: NumberFigure, { folded }: FigureText, noun: string): boolean =>
  folded.slice(fact.end, fact.end + 30).includes(noun)

export interface Counted {
  readonly answer: ReadonlySet<number>
  readonly texts: readonly FigureText[]
}

export function isCountOf(claim: NumberFigure, folded: string, { answer, texts }: Counted): boolean {
  const value = claim.readings[0]?.value ?? 0
  // "Two years: 2021 and 2022".
  const isOfUnit = claim.unit !== undefined && !(claim.isWord && /[:：]/.test(folded.slice(claim.end)))
  if (isOfUnit || claim.isScaled || claim.hasDecimals || value < 2 || value > MAX_COUNT) return false
  if (texts.some((text) => isCountedOtherwise(claim, folded, text))) return false
  return answer.has(value) || texts.some(({ itemCounts }) => itemCounts.has(value))
}
