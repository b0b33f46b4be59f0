/** Recognises questions about several things, which one search for all their words serves badly. Pure. */

const COMPARISON = new RegExp(
  [
    String.raw`(?<!\p{L})(?:compar\p{L}*|versus|vs|differ\p{L}*|respectively|each say|both|next to|vergl\p{L}*|verglichen|gegenüber|unterschie\p{L}*|unterscheid\p{L}*|jeweils|beide\p{L}*|par rapport|différen\p{L}*|respectivement|frente a|diferenci\p{L}*|confront\p{L}*|rispetto|differenz\p{L}*|vergel\p{L}*|verschil\p{L}*|сравн\p{L}*|отлич\p{L}*|разниц\p{L}*)(?!\p{L})`,
    '比较|比較|相比|区别|區別|違い|それぞれ|비교|차이|مقارنة|الفرق',
  ].join('|'),
  'iu',
)

const QUESTION_WORD = String.raw`(?:what|how|when|where|who|which|why|since when|was|wie|wann|wo|wer|welche\p{L}*|warum|seit wann|que|quel\p{L}*|comment|quand|où|qui|pourquoi|qué|cómo|cuándo|cuánt\p{L}*|dónde|quién|cuál\p{L}*|che|come|quando|dove|chi|quale|wat|hoe|wanneer|waar)`
/** Not at the beginning, where it joins to the question before: "And when?" */
const JOINED_QUESTIONS = new RegExp(
  String.raw`(?<=\S.*\s)(?:and|und|et|y|e|en)(?!\p{L})[,\s]+(?:\p{L}+\s+)?${QUESTION_WORD}(?!\p{L}).*[?？]`,
  'iu',
)
/** "Which is longer, A or B?" */
const CHOICE = new RegExp(
  String.raw`(?<!\p{L})(?:which|who|welche\p{L}*|wer|quel\p{L}*|qui|cuál\p{L}*|quién|quale)(?!\p{L}).*(?:[:,]| of the two ).*(?<!\p{L})(?:or|oder|ou|o)(?!\p{L}).*[?？]`,
  'iu',
)

export const hasParts = (question: string): boolean =>
  COMPARISON.test(question) || CHOICE.test(question) || JOINED_QUESTIONS.test(question)
