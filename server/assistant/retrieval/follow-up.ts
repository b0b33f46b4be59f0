/** Recognises follow-up questions ("And when exactly?"), which alone contain too little to search for. Pure. */
import { groupWordsByLanguage } from '#server/search/query/parse-question.ts'
import { removeQuestionPhrases } from '#server/search/query/question-phrases.ts'
import { findSigns } from './pointing-words.ts'

const MAX_CONTENT_WORDS = 2
/** Where a question joins on and points back, or points back twice, it may hold more words of its own. */
const MAX_CONTENT_WORDS_OF_TWO_SIGNS = 4

/** Whether it may go on from the answer before, even where it can be searched for by itself. */
export function refersBack(question: string): boolean {
  const { pronouns, hasConjunction } = findSigns(question)
  return isFollowUp(question) || hasConjunction || pronouns.size > 0
}

export function isFollowUp(question: string): boolean {
  const { pronouns, hasConjunction } = findSigns(question)
  const contentWords = new Set(groupWordsByLanguage(removeQuestionPhrases(question)).flatMap((words) => [...words]))
  const own = contentWords.difference(pronouns).size
  const signs = pronouns.size + (hasConjunction ? 1 : 0)
  return own === 0 || (signs > 0 && own <= (signs > 1 ? MAX_CONTENT_WORDS_OF_TWO_SIGNS : MAX_CONTENT_WORDS))
}

/** Joins a follow-up with the last complete earlier question; `earlier` is oldest first. */
export function withEarlierQuestion(question: string, earlier: readonly string[]): string {
  if (question.trim() === '' || !isFollowUp(question)) return question
  const subject = earlier.findLast((other) => other.trim() !== '' && !isFollowUp(other))
  return subject === undefined ? question : `${question}\n${subject}`
}
