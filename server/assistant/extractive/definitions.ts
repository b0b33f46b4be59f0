/** Questions that ask what something is ("What is a column mask?"), and sentences that say it. */

/** Around a subject, which ends where words follow that only say where to look ("… in DB2 for i"). */
const QUESTIONS: readonly RegExp[] = [
  /^what(?:['’]s| is| are) (?:meant by )?(?:an? |the term )?(?<subject>.+?)(?:,.*| (?:in|for|according|as|under|within|here|on) .*)?$/iu,
  /^what do(?:es)? (?:an? |the term )?(?<subject>.+?) mean(?: .*)?$/iu,
  /^(?:was|wer) (?:ist|sind|bedeutet|bedeuten|heißt|versteht man unter)(?: eigentlich)? (?:(?:ein|eine|einen|einem|einer|der begriff) )?(?<subject>.+?)(?:,.*| (?:in|im|für|nach|laut|bei|unter|gemäß) .*)?$/iu,
  /^(?:qu['’]est[- ]ce (?:que c['’]est )?qu(?:e |['’])|que signifie )(?:une? |l['’]|le |la |les )?(?<subject>.+?)(?:,.*| (?:dans|en|pour|selon|d['’]après|chez) .*)?$/iu,
  /^qué (?:es|son|significa|significan) (?:una? |el |la |los |las )?(?<subject>.+?)(?:,.*| (?:en|para|según) .*)?$/iu,
  /^(?:che )?cos(?:['’]è|a (?:è|sono|significa)) (?:un['’]?[oa]? ?|il |lo |la |l['’]|i |gli |le )?(?<subject>.+?)(?:,.*| (?:in|nel|nella|per|secondo) .*)?$/iu,
  /^o que (?:é|são|significa) (?:uma? |o |a |os |as )?(?<subject>.+?)(?:,.*| (?:em|no|na|para|segundo) .*)?$/iu,
  /^wat (?:is|zijn|betekent|betekenen) (?:een )?(?<subject>.+?)(?:,.*| (?:in|voor|volgens|bij) .*)?$/iu,
  /^(?:vad|hva|hvad) (?:är|er|betyder|betyr) (?:ett? |en |ei )?(?<subject>.+?)(?:,.*| (?:i|för|for|enligt|ifølge) .*)?$/iu,
  /^(?:что такое|что значит|что означает) (?<subject>.+?)(?:,.*| (?:в|во|для|по|согласно) .*)?$/iu,
  /^(?:ما هو|ما هي|ما معنى|ماذا يعني|ماذا تعني) (?<subject>.+?)(?:،.*| (?:في|حسب|وفقا) .*)?$/u,
]

/** Verbs that may follow a subject in its definition, after a remark in brackets, or a comma and few words. */
const VERBS = new Set(
  `is are was were means mean refers refer denotes denote describes describe
  ist sind war bezeichnet bezeichnen bedeutet bedeuten beschreibt heißt est sont désigne désignent signifie signifient
  es son designa significa significan refiere è sono indica significano é são betekent betekenen zijn är er betyder betyr
  это является являются представляет называется называют означает означают هو هي يعني تعني`.split(/\s+/),
)

/** A longer question asks for more than a definition. */
const MAX_QUESTION_CHARACTERS = 200
/** More words are a question for something of the subject. */
const MAX_WORDS = 5
/** Before the subject, with the numbers of a section. */
const ARTICLES = new Set(
  'a an the ein eine einen einem einer der die das un une le la les l el los las una uno il lo gli i o os as um uma een de het en et ei'.split(
    ' ',
  ),
)
/** Words between the subject and its verb. */
const MAX_WORDS_BETWEEN = 2
const BEGINNING_CHARACTERS = 240

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []

/** An article that points to one thing ("the price"), and a relation ("price of a ticket"), ask for something of a subject. */
const POINTING =
  /^(?:the|my|your|our|their|this|that|der|die|das|mein|unser|de|het)(?!\p{L})|(?<!\p{L})(?:of|between|von|vom|zwischen|van|tussen|du|del|della|dello|do|da|av|af|and|und|en|och|og)(?!\p{L})/iu

/** The words of a subject whose definition is asked for; undefined for another question. */
export function definedSubject(question: string): readonly string[] | undefined {
  if (question.length > MAX_QUESTION_CHARACTERS) return undefined
  const text = question.replace(/^[\s¿¡"'„“«]+|[\s?؟!."'“”»]+$/gu, '')
  for (const pattern of QUESTIONS) {
    const subject = pattern.exec(text)?.groups?.['subject']
    if (subject === undefined) continue
    const words = wordsOf(subject)
    return words.length > 0 && words.length <= MAX_WORDS && !POINTING.test(subject) && !/\p{N}/u.test(subject)
      ? words
      : undefined
  }
  return undefined
}

/**
 * Whether a sentence begins with the subject and goes on with a verb of definitions.
 *
 * @param isSame whether two words have a stem in common
 */
export function isDefinition(
  sentence: string,
  subject: readonly string[],
  isSame: (one: string, other: string) => boolean,
): boolean {
  const words = wordsOf(sentence.slice(0, BEGINNING_CHARACTERS).replace(/\([^)]*\)|\[[^\]]*\]/gu, ' '))
  const isFirst = isSame(subject[0] ?? '', words[0] ?? '')
  // "A" may be a part of the subject: "A shares are …".
  const before = isFirst ? 0 : words.findIndex((word) => !ARTICLES.has(word) && !/^\p{N}+$/u.test(word))
  const after = before + subject.length
  return (
    before >= 0 &&
    subject.every((word, index) => isSame(word, words[before + index] ?? '')) &&
    words.slice(after, after + MAX_WORDS_BETWEEN + 1).some((word) => VERBS.has(word))
  )
}
