/** Questions that ask what something is ("What is a column mask?"), and sentences that say it. */

interface Language {
  /** Around a subject, which ends where words follow that only say where to look ("… in DB2 for i"). */
  readonly question: RegExp
  /** Goes on after the subject of a definition. "Is" and "are" also say other things: an article or a noun follows. */
  readonly says: RegExp
}

const LANGUAGES: readonly Language[] = [
  {
    question:
      /^what(?:['’]s| is| are) (?:meant by )?(?:an? |the term )?(?<subject>.+?)(?:,.*| (?:in|for|according|as|under|within|here|on) .*)?$/iu,
    says: /^(?:(?:is|are) (?:an?|the|any|all|those|one of|defined as)|are (?!not|on|in|\p{L}+e[dn])\p{L}+|means?|refers? to|denotes?|describes?)(?!\p{L})/iu,
  },
  {
    question: /^what do(?:es)? (?:an? |the term )?(?<subject>.+?) mean(?: .*)?$/iu,
    says: /^(?:(?:is|are) (?:an?|the|any|all|those|one of|defined as)|means?|refers? to|denotes?|describes?)(?!\p{L})/iu,
  },
  {
    question:
      /^(?:was|wer) (?:ist|sind|bedeutet|bedeuten|heißt|versteht man unter)(?: eigentlich)? (?:(?:eine?|einen|einem|einer|der begriff) )?(?<subject>.+?)(?:,.*| (?:in|im|für|nach|laut|bei|unter|gemäß) .*)?$/iu,
    says: /^(?:(?:ist|sind) (?:eine?|der|die|das|alle|jede[rs]?)|bezeichne[nt]|bedeute[nt]|beschreib(?:t|en)|heißt)(?!\p{L})/iu,
  },
  {
    question:
      /^(?:qu['’]est[- ]ce (?:que c['’]est )?qu(?:e |['’])|que signifie )(?:une? |l['’]|le |la |les )?(?<subject>.+?)(?:,.*| (?:dans|en|pour|selon|d['’]après|chez) .*)?$/iu,
    says: /^(?:est (?:une?|le|la|l['’]|tou[st])|sont (?:des|les|tous|toutes)|désignent?|signifient?)(?!\p{Ll}{3})/iu,
  },
  {
    question:
      /^qu[ée] (?:es|son|significa|significan) (?:una? |el |la |los |las )?(?<subject>.+?)(?:,.*| (?:en|para|según) .*)?$/iu,
    says: /^(?:es (?:una?|el|la|tod[oa])|son (?:l[oa]s|un[oa]s|tod[oa]s)|designan?|significan?|se refieren? a)(?!\p{L})/iu,
  },
  {
    question:
      /^(?:che )?cos(?:['’]è|a (?:è|sono|significa)) (?:un['’]?[oa]? ?|il |lo |la |l['’]|i |gli |le )?(?<subject>.+?)(?:,.*| (?:in|nel|nella|per|secondo) .*)?$/iu,
    says: /^(?:è (?:un[oa']?|il|lo|la|l['’]|ogni)|sono (?:i|gli|le|dei|delle|tutt[ei])|indica(?:no)?|significa(?:no)?)(?!\p{Ll}{3})/iu,
  },
  {
    question:
      /^o que (?:é|são|significa) (?:uma? |o |a |os |as )?(?<subject>.+?)(?:,.*| (?:em|no|na|para|segundo) .*)?$/iu,
    says: /^(?:é (?:uma?|o|a|tod[oa])|são (?:os|as|tod[oa]s)|designam?|significam?|refere-se)(?!\p{L})/iu,
  },
  {
    question: /^wat (?:is|zijn|betekent|betekenen) (?:een )?(?<subject>.+?)(?:,.*| (?:in|voor|volgens|bij) .*)?$/iu,
    says: /^(?:(?:is|zijn) (?:een|de|het|elke?|alle)|beteken(?:t|en)|verwijst naar)(?!\p{L})/iu,
  },
  {
    question:
      /^(?:vad|hva|hvad) (?:är|er|betyder|betyr) (?:ett? |en |ei )?(?<subject>.+?)(?:,.*| (?:i|för|for|enligt|ifølge) .*)?$/iu,
    says: /^(?:(?:är|er) (?:ett?|en|ei|den|det|alla|alle)|betyder|betyr|avser|innebär|innebærer)(?!\p{L})/iu,
  },
  {
    question: /^(?:что такое|что значит|что означает) (?<subject>.+?)(?:,.*| (?:в|во|для|по|согласно) .*)?$/iu,
    says: /^(?:[—–-]|это|явля[ею]тся|представля[ею]т|называ[ею]тся|называют|означа[ею]т)(?!\p{L})/iu,
  },
  {
    question: /^(?:ما هو|ما هي|ما معنى|ماذا يعني|ماذا تعني) (?<subject>.+?)(?:،.*| (?:في|حسب|وفقا) .*)?$/u,
    says: /^(?:هو|هي|يعني|تعني|عبارة عن)(?!\p{L})/u,
  },
]

/** A longer question asks for more than a definition. */
const MAX_QUESTION_CHARACTERS = 200
/** More words are a question for something of the subject. */
const MAX_WORDS = 5
const BEGINNING_CHARACTERS = 240
/** Before the subject: the number of a section, and an article. */
const BEFORE_SUBJECT =
  /^[\s\p{N}.•*-]*(?:(?:an?|the|eine?|der|die|das|une?|le|la|les|l['’]|el|los|las|una|uno|il|lo|gli|i|o|os|as|um|uma|een|de|het|ett?|en|ei)[\s'’]+)?(?=\p{L})/iu
/** Between the subject and its verb: remarks in brackets or between commas. */
const REMARK = /^\s*(?:(?:\([^)]*\)|\[[^\]]*\])\s*)?(?:,[^,]{1,80},\s*)?/u

/** An article that points to one thing ("the price"), a relation ("price of a ticket") and a pronoun ask for something else. */
const POINTING =
  /^(?:the|my|your|our|their|der|die|das|mein|unser|de|het)(?!\p{L})|(?<!\p{L})(?:of|between|von|vom|zwischen|van|tussen|du|del|della|dello|do|da|av|af|and|und|en|och|og)(?!\p{L})|^(?:it|this|that|these|those|they|he|she|there|es|dies|ça|cela|esto|eso|questo|quello|isto|isso|dit|dat|det|dette|это|هذا|هذه)$/iu

export interface DefinedSubject {
  readonly words: readonly string[]
  readonly says: RegExp
}

/** The subject whose definition is asked for; undefined for another question. */
export function definedSubject(question: string): DefinedSubject | undefined {
  if (question.length > MAX_QUESTION_CHARACTERS) return undefined
  const text = question.replace(/^[\s¿¡"'„“«]+|[\s?؟!."'“”»]+$/gu, '')
  for (const language of LANGUAGES) {
    const subject = language.question.exec(text)?.groups?.['subject']
    if (subject === undefined) continue
    const words = subject.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
    const isSubject =
      words.length > 0 && words.length <= MAX_WORDS && !POINTING.test(subject) && !/\p{N}/u.test(subject)
    return isSubject ? { words, says: language.says } : undefined
  }
  return undefined
}

/**
 * Whether a sentence begins with the subject and goes on with what it is.
 *
 * @param isSame whether two words have a stem in common
 */
export function isDefinition(
  sentence: string,
  { words, says }: DefinedSubject,
  isSame: (one: string, other: string) => boolean,
): boolean {
  const text = sentence.slice(0, BEGINNING_CHARACTERS)
  return [0, BEFORE_SUBJECT.exec(text)?.[0].length ?? 0].some((start) => {
    let at = start
    for (const word of words) {
      const found = /^[^\p{L}\p{N}]{0,3}([\p{L}\p{M}\p{N}]+)/u.exec(text.slice(at))
      if (!found || !isSame(word, (found[1] ?? '').toLowerCase())) return false
      at += found[0].length
    }
    return says.test(text.slice(at).replace(REMARK, ''))
  })
}
