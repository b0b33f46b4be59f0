/** Recognises questions about several things, which one search for all their words serves badly. Pure. */
import { groupWordsByLanguage } from '#server/search/query/parse-question.ts'
import { removeQuestionPhrases } from '#server/search/query/question-phrases.ts'

/** Fewer words of substance ("and by when?") ask nothing by themselves. */
const MIN_SUBJECT_WORDS = 2

const COMPARISON = new RegExp(
  [
    String.raw`(?<!\p{L})(?:compar\p{L}*|versus|vs|differ(?:s|ence|ences)? between|differs? from|respectively|each say|than (?:an?|the|my|our)|vergl\p{L}*|verglichen|gegenüber|unterschie\p{L}*|unterscheid\p{L}*|jeweils|par rapport|différen\p{L}*|respectivement|frente a|diferenci\p{L}*|confront\p{L}*|rispetto|differenz\p{L}*|vergel\p{L}*|verschil\p{L}*|сравн\p{L}*|отлич\p{L}*|разниц\p{L}*)(?!\p{L})`,
    '比较|比較|相比|区别|區別|違い|それぞれ|비교|차이|مقارنة|الفرق',
  ].join('|'),
  'iu',
)

/** Per language: the word that joins, words that may stand between, and the words that ask. */
const JOINED_BY_LANGUAGE = [
  ['and', 'by|in|at|from|to|for|with|on|until|since', 'what|how|when|where|who|which|why'],
  ['und', 'bis|seit|in|an|ab|mit|von|für|aus', 'was|wie|wann|wo|wer|welche[rsmn]?|warum|wieviel'],
  ['et', 'à|de|en|par|depuis|pour|avec', 'que|quel(?:le)?s?|comment|quand|où|qui|pourquoi|combien'],
  ['y', 'a|de|en|por|desde|para|con', 'qué|cómo|cuándo|cuánt[oa]s?|dónde|quién(?:es)?|cuál(?:es)?'],
  ['e', 'a|di|in|da|per|con', 'che cosa|come|quando|dove|chi|quale|quanto'],
  ['en', 'in|op|aan|tot|sinds|voor|met|van', 'wat|hoe|wanneer|waar|wie|welke?'],
] as const
const ARTICLE = '(?:the|my|der|die|das|le|la|les|el|los|las)'
const AND = '(?:and|und|et|y|e|en)'
const OR = '(?:or|oder|ou|o|of)'
/** "…, and when does it end?" */
const NEXT_QUESTION = new RegExp(
  JOINED_BY_LANGUAGE.map(
    ([and, between, asking]) => String.raw`[,;]? ${and} (?=(?:(?:${between}) )?(?:${asking})(?!\p{L}))`,
  ).join('|'),
  'iu',
)
/** "Which is longer: A or B?" */
const ALTERNATIVES = new RegExp(
  String.raw`^(?<asked>(?:which|who|welche\p{L}*|wer|quel\p{L}*|qui|cuál\p{L}*|quién|quale)(?!\p{L})[^:,]*)[:,] (?<one>.+?),? ${OR} (?<other>[^,]+)$`,
  'iu',
)
/** "What do A and B each say about C?" */
const EACH = new RegExp(
  String.raw`^(?<asked>.*?)(?<!\p{L})(?<one>${ARTICLE} .+?) ${AND} (?<other>${ARTICLE} .+?) (?:each|both|jeweils|beide|chacune?|cada uno|cada una) (?<rest>.+)$`,
  'iu',
)
/** "the difference between A and B" */
const BETWEEN = new RegExp(
  String.raw`^(?<asked>.*(?<!\p{L})(?:differ|unterschied|différen|diferenc|differenz|verschil|разниц)\p{L}* (?:between|zwischen|entre|tra|tussen|между)) (?<one>.+?) (?:${AND}|и) (?<other>.+)$`,
  'iu',
)
/** "put A next to B" */
const TOGETHER = /^(?:put|set|compare) (?<one>.+?) (?:next to|against|and|to|with) (?<other>.+)$/iu
const AGAINST =
  /^(?<one>.+?),? (?:(?:as )?compared (?:with|to)|in comparison (?:with|to)|versus|vs\.?|than(?= (?:an?|the|my|our) )|im Vergleich (?:zu[mr]?|mit)|verglichen mit|par rapport (?:à|au|aux)|comparado con|frente a) (?<other>.+)$/iu

/** A longer text is no question of this kind, and the patterns below look back. */
const MAX_CHARACTERS = 500

/** Whether it has enough words to be searched for by itself; "Thank you!" has none. */
export const hasSubject = (text: string): boolean =>
  groupWordsByLanguage(removeQuestionPhrases(text)).reduce((count, words) => count + words.size, 0) >= MIN_SUBJECT_WORDS

/**
 * The parts of a question about several things, each to be searched for by itself; none if it has no parts.
 * The words that ask belong to every part.
 */
export function splitParts(question: string): string[] {
  if (question.length > MAX_CHARACTERS) return []
  const parts = splitText(
    question
      .trim()
      .replaceAll(/\s+/g, ' ')
      .replace(/[ ?？!.]+$/u, ''),
  ).filter(hasSubject)
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
  for (const pattern of [ALTERNATIVES, EACH, BETWEEN, TOGETHER, AGAINST]) {
    const { asked = '', one, other, rest = '' } = pattern.exec(text)?.groups ?? {}
    if (one !== undefined && other !== undefined)
      return [one, other].map((part) => `${asked} ${part} ${rest}`.replaceAll(/ +/g, ' ').trim())
  }
  return []
}
