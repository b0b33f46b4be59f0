/** Recognises questions about several things, which one search for all their words serves badly. Pure. */
import { groupWordsByLanguage } from '#server/search/query/parse-question.ts'
import { removeQuestionPhrases } from '#server/search/query/question-phrases.ts'

/** Fewer words of substance ("and by when?") belong to the part before. */
const MIN_PART_WORDS = 2

const COMPARISON = new RegExp(
  [
    String.raw`(?<!\p{L})(?:compar\p{L}*|versus|vs|differ\p{L}*|respectively|each say|both|next to|than (?:an?|the|my|our)|vergl\p{L}*|verglichen|gegenüber|unterschie\p{L}*|unterscheid\p{L}*|jeweils|beide\p{L}*|par rapport|différen\p{L}*|respectivement|frente a|diferenci\p{L}*|confront\p{L}*|rispetto|differenz\p{L}*|vergel\p{L}*|verschil\p{L}*|сравн\p{L}*|отлич\p{L}*|разниц\p{L}*)(?!\p{L})`,
    '比较|比較|相比|区别|區別|違い|それぞれ|비교|차이|مقارنة|الفرق',
  ].join('|'),
  'iu',
)

const QUESTION_WORD = String.raw`(?:what|how|when|where|who|which|why|since when|was|wie|wann|wo|wer|welche\p{L}*|warum|seit wann|que|quel\p{L}*|comment|quand|où|qui|pourquoi|qué|cómo|cuándo|cuánt\p{L}*|dónde|quién|cuál\p{L}*|che|come|quando|dove|chi|quale|wat|hoe|wanneer|waar)`
const AND = '(?:and|und|et|y|e|en)'
const OR = '(?:or|oder|ou|o|of)'
/** "…, and when does it end?" */
const NEXT_QUESTION = new RegExp(String.raw`[,;]?\s+${AND}\s+(?=(?:\p{L}+\s+)?${QUESTION_WORD}(?!\p{L}))`, 'iu')
/** "Which is longer: A or B?" */
const ALTERNATIVES = new RegExp(
  String.raw`^(?<asked>(?:which|who|welche\p{L}*|wer|quel\p{L}*|qui|cuál\p{L}*|quién|quale)(?!\p{L})[^:,]*)[:,]\s*(?<one>.+?),?\s+${OR}\s+(?<other>[^,]+)$`,
  'iu',
)
/** "What do A and B each say about C?" */
const EACH = new RegExp(
  String.raw`^(?<asked>.*?)(?<!\p{L})(?<one>(?:the|my|der|die|das|le|la|les|el|los|las)\s.+?)\s+${AND}\s+(?<other>(?:the|my|der|die|das|le|la|les|el|los|las)\s.+?)\s+(?:each|both|jeweils|beide|chacune?|cada uno|cada una)\s+(?<rest>.+)$`,
  'iu',
)
/** "the difference between A and B" */
const BETWEEN = new RegExp(
  String.raw`^(?<asked>.*(?<!\p{L})(?:differ|unterschied|différen|diferenc|differenz|verschil|разниц)\p{L}*\s+(?:between|zwischen|entre|tra|tussen|между))\s+(?<one>.+?)\s+(?:${AND}|и)\s+(?<other>.+)$`,
  'iu',
)
const AGAINST =
  /^(?:put|compare|vergleiche?|compare[rz]?|compara|confronta)?\s*(?<one>.+?),?\s+(?:(?:as )?compared (?:with|to)|in comparison (?:with|to)|versus|vs\.?|next to|than(?= (?:an?|the|my|our) )|im Vergleich (?:zu[mr]?|mit)|verglichen mit|par rapport (?:à|au|aux)|comparado con|frente a)\s+(?<other>.+)$/iu

/** A longer text is no question of this kind, and the patterns below look back. */
const MAX_CHARACTERS = 500

const isPart = (text: string): boolean =>
  groupWordsByLanguage(removeQuestionPhrases(text)).reduce((count, words) => count + words.size, 0) >= MIN_PART_WORDS

/**
 * The parts of a question about several things, each to be searched for by itself; none if it has no parts.
 * The words that ask belong to every part.
 */
export function splitParts(question: string): string[] {
  if (question.length > MAX_CHARACTERS) return []
  const parts = splitText(question.trim().replace(/[\s?？!.]+$/u, '')).filter(isPart)
  return parts.length > 1 ? parts : []
}

export const hasParts = (question: string): boolean =>
  question.length <= MAX_CHARACTERS && (COMPARISON.test(question) || splitParts(question).length > 0)

function splitText(text: string): string[] {
  const [first = '', ...others] = text.split(NEXT_QUESTION)
  if (others.length > 0) {
    const asked = first.includes(':') ? `${first.slice(0, first.indexOf(':'))} ` : ''
    return [first, ...others.map((other) => `${asked}${other}`)]
  }
  for (const pattern of [ALTERNATIVES, EACH, BETWEEN, AGAINST]) {
    const { asked = '', one, other, rest = '' } = pattern.exec(text)?.groups ?? {}
    if (one !== undefined && other !== undefined)
      return [one, other].map((part) => `${asked} ${part} ${rest}`.replaceAll(/\s+/g, ' ').trim())
  }
  return []
}
