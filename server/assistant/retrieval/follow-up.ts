/** Recognises follow-up questions ("And when exactly?"), which alone contain too little to search for. Pure. */
import { groupWordsByLanguage } from '#server/search/query/parse-question.ts'
import { removeQuestionPhrases } from '#server/search/query/question-phrases.ts'

const MAX_CONTENT_WORDS = 2

const CONJUNCTION =
  /^[^\p{L}]*(?:and|or|but|so|(?:what|how) about|und|oder|aber|et|ou|mais|y|pero|e|ma|en|maar|а|и|но)(?!\p{L})/iu

/** Words that refer to earlier text; "it" in "is it allowed" refers to nothing. */
const POINTING = new RegExp(
  [
    String.raw`(?<!\p{L})(?:its|that|this|they|them|their|those|these|he|she|him|her|his|it(?! (?:allowed|possible|permitted|necessary|required|forbidden|legal|ok)))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:er|sie|es|ihn|ihm|das|dies\p{L}*|davon|dafür|damit|ça|cela|il|elle|ils|elles|eso|esto|ello|lo|la|esso|essa|dat|dit|он|она|оно|они|это|его|её|их)(?!\p{L})`,
    '它|这个|那个|這個|那個|他|她|それ|これ|その',
  ].join('|'),
  'iu',
)

export function isFollowUp(question: string): boolean {
  const contentWords = new Set(groupWordsByLanguage(removeQuestionPhrases(question)).flatMap((words) => [...words]))
    .size
  return (
    contentWords === 0 || (contentWords <= MAX_CONTENT_WORDS && (CONJUNCTION.test(question) || POINTING.test(question)))
  )
}

/** Joins a follow-up with the last complete earlier question; `earlier` is oldest first. */
export function withEarlierQuestion(question: string, earlier: readonly string[]): string {
  if (question.trim() === '' || !isFollowUp(question)) return question
  const subject = earlier.findLast((other) => other.trim() !== '' && !isFollowUp(other))
  return subject === undefined ? question : `${question}\n${subject}`
}
