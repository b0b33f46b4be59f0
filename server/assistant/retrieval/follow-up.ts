/** Recognises follow-up questions ("And when exactly?"), which alone contain too little to search for. Pure. */
import { groupWordsByLanguage } from '#server/search/query/parse-question.ts'
import { removeQuestionPhrases } from '#server/search/query/question-phrases.ts'

const MAX_CONTENT_WORDS = 2
/** Where a question joins on and points back, or points back twice, it may hold more words of its own. */
const MAX_CONTENT_WORDS_OF_TWO_SIGNS = 4

const CONJUNCTION =
  /^[^\p{L}]*(?:and|or|but|so|(?:what|how) about|und|oder|aber|et|ou|mais|y|pero|e|ma|en|maar|а|и|но|og|och|men|ja|ale|oraz|nebo|ve|peki|και|та|і)(?!\p{L})/iu

/** Words that refer to earlier text; "it" in "is it allowed" refers to nothing. */
const POINTING = new RegExp(
  [
    String.raw`(?<!\p{L})(?:its|that|this|they|them|their|those|these|there|he|she|him|her|his|same|it(?! (?:allowed|possible|permitted|necessary|required|forbidden|legal|ok)))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:er|sie|es|ihn|ihm|das|dies\p{L}*|dessen|deren|davon|dafür|dazu|daran|damit|dort|derselbe\p{L}*|dieselbe\p{L}*|ça|cela|il|elle|ils|elles|celui-ci|celle-ci|eso|esto|ello|allí|lo|la|mismo|misma|esso|essa|lì|stess[oa]|isso|ele|ela|mesm[oa]|dat|dit|daar|daarvan|hij|zij|dezelfde|han|hun|hon|den|det|der|samme|samma|он|она|оно|они|это|этого|его|её|ему|ей|их|там|hän|sitä|siellä|tego|jego|jej|ich|tam|jeho|její|onu|onun|orada|αυτό|αυτή|εκεί|він|вона|його|її)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:ذلك|هذا|هذه|هناك|منه|منها|فيه|فيها)(?!\p{L})`,
    '它|这个|那个|這個|那個|那里|那裡|他|她|其|それ|これ|その|この|そこ|彼|그것|그는|그녀|거기|그곳|이것',
  ].join('|'),
  'giu',
)

const pointingWords = (question: string): Set<string> =>
  new Set([...question.matchAll(POINTING)].map(([word]) => word.toLowerCase()))

/** Whether it may go on from the answer before, even where it can be searched for by itself. */
export const refersBack = (question: string): boolean =>
  isFollowUp(question) || CONJUNCTION.test(question) || pointingWords(question).size > 0

export function isFollowUp(question: string): boolean {
  const pointing = pointingWords(question)
  const contentWords = new Set(groupWordsByLanguage(removeQuestionPhrases(question)).flatMap((words) => [...words]))
  const own = contentWords.difference(pointing).size
  const signs = pointing.size + (CONJUNCTION.test(question) ? 1 : 0)
  return own === 0 || (signs > 0 && own <= (signs > 1 ? MAX_CONTENT_WORDS_OF_TWO_SIGNS : MAX_CONTENT_WORDS))
}

/** Joins a follow-up with the last complete earlier question; `earlier` is oldest first. */
export function withEarlierQuestion(question: string, earlier: readonly string[]): string {
  if (question.trim() === '' || !isFollowUp(question)) return question
  const subject = earlier.findLast((other) => other.trim() !== '' && !isFollowUp(other))
  return subject === undefined ? question : `${question}\n${subject}`
}
