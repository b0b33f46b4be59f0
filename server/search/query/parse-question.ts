import { type Scope } from '#server/database/scope.ts'
import { stemByLanguage } from '#server/search/text/stemmer.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'

/**
 * Words that say nothing about what is asked. Kept short, and used only where something else is left of the question;
 * languages without an entry rely on the rarity that each word is weighted by. Only the lists of the library's languages
 * count: "die" and "war" say much in English.
 */
const STOP_WORDS: Readonly<Record<string, string>> = {
  english:
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me must my of on or our shall should so such than that the their them then there these they this those to upon us was we were what when where which while who whom whose why will with would you your',
  german:
    'der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden wurde wurden hat haben hatte kann können muss müssen soll sollen darf wie was wer wo wann warum welche welchem welchen welcher welches mit von vom zu zum zur im in am an auf für bei aus nach sich nicht auch es er sie man ich wir',
  french:
    'le la les un une des du de et ou est sont a ont été être faut peut peuvent doit doivent que qui quoi quel quelle quels quelles où quand comment pourquoi dans par pour sur avec au aux ce cette ces en il ils elle elles on se sa ses leur leurs je nous vous ne pas plus l d',
  spanish:
    'el la los las un una unos unas y o de del al en por para con que qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas es son fue fueron era ha han hay puede pueden debe deben se su sus lo',
  russian:
    'и в во на с со к о об от по за из у что кто где когда как какой какая какие какое почему сколько был была было были это для не он она они его ее их',
  arabic: 'في من على إلى الى عن مع ما ماذا من هو هي هل كم أين متى كيف لماذا التي الذي كان كانت أن او أو و',
  italian:
    'il lo gli i uno di del della dei delle che chi come quando dove perché quale quali è sono era nel nella con per su da',
  portuguese:
    'o os as um uma do da dos das e ou em no na nos nas por para com que quem qual quais quando onde como foi é são',
  dutch: 'wie wat waar wanneer waarom welke het een van en op te met voor is zijn was',
}

const stopWordsOf = new Map(
  Object.entries(STOP_WORDS).map(([language, words]) => [language, new Set(words.split(' '))]),
)

/** How English questions often begin; "tell" and its stems are rare in documents, and would outweigh what is asked about. */
const ASKS_TO_BE_TOLD =
  /^\W*(?:please\W+|(?:can|could|would|will) you (?:please )?)?tell (?:me|us)(?: more)?(?: about)?\b/i

/** What asks for a size or a meaning stands in no answer: "how long is the notice period" is answered by "three months". */
const ASKS_FOR_SIZE =
  /\bhow (?:big|deep|far|fast|heavy|high|large|late|long|many|much|often|old|tall|thick|wide)\b|\bmean\b(?<=\b(?:do|does|did)\b.{1,80})(?=\W*$)/gi
const ASKS_FOR_SIZE_IN_GERMAN =
  /(?<!\p{L})wie ?(?:alt|breit|dick|groß|gross|hoch|lange?|oft|schnell|schwer|spät|teuer|tief|viele?|weit)(?!\p{L})/giu

/** French asks by verb and pronoun turned round ("faut-il", "ont-elles"), which are no compound. */
const FRENCH_INVERSION = /(?<=\p{L})(?<!\brendez)-(?:t-)?(?:ils?|elles?|on|je|tu|nous|vous|ce)(?!\p{L})/giu

/**
 * What Chinese and Japanese questions ask with: written together with the rest, it would be pairs of characters that no answer
 * holds ("when does the lift stop": 电梯什么时候停 asks for 梯什, 么时, 时候 and 候停).
 */
const ASKS_IN_SIGNS =
  /请问|請問|(?:是|在|从|從|到)?(?:什么|什麼|甚麼|哪(?:个|個|些|一))(?:时候|時候|时间|時間|地方)?|为什么|為什麼|为何|為何|(?:在)?哪(?:里|裡|儿|兒)|怎(?:么|麼)(?:样|樣)?|いつ(?:から|まで)?|どこ(?:で|に)?|だれ|なぜ|どうして|どのように|何(?=[時年月日週人回かがをでと])|(?:です|ます|ました|でしょう)か/gu

/** Chinese signs that carry grammar or ask: a pair that holds one of them is more about the sentence than the subject. */
const GRAMMAR_SIGNS = new Set('的了是在和与及或也就都而着被把将之其于以为对从向到由吗呢吧么哪谁何几什怎多少这那个些')
const HAN = /^\p{Script=Han}+$/u
const HALF_GRAMMAR_WEIGHT = 0.3

/** What words of a question ask for that are one word in each language of the library: "contract", "contracts". */
export interface AskedTerm {
  readonly weight: number
  /** The terms that it is stored under, each with the languages in which it is. */
  readonly forms: ReadonlyMap<string, readonly string[]>
}

export interface AskedTerms {
  /** By name: the term itself, or its terms where the languages of the library have several. */
  readonly terms: ReadonlyMap<string, AskedTerm>
  /** The telling words, each with its terms. */
  readonly words: ReadonlyMap<string, readonly string[]>
}

/** Under which a word is asked for whose terms these are. */
export const nameOfTerms = (terms: Iterable<string>): string => [...terms].join('/')

export const isStopWord = (word: string, languages: readonly string[]): boolean =>
  languages.some((language) => stopWordsOf.get(language)?.has(word))

/** So many words that the languages found so far do not have: one alone may be a name, or a word of another language. */
const LEAST_STOP_WORDS = 2

/** The languages of words, as their stop words say: the first explains most of them, a further one some of the rest. */
function languagesOf(words: readonly string[]): string[] {
  const languages: string[] = []
  let left = new Set(words)
  for (;;) {
    const [best] = [...stopWordsOf]
      .map(([language, stopWords]) => ({ language, stopWords, count: left.intersection(stopWords).size }))
      .toSorted((one, other) => other.count - one.count)
    if (!best || best.count < (languages.length === 0 ? 1 : LEAST_STOP_WORDS)) return languages
    languages.push(best.language)
    left = left.difference(best.stopWords)
  }
}

/**
 * The telling words of a question, apart for each language that it is in: a word is taken to be in the language of the stop
 * word that is nearest to it, of those that no comma or full stop parts from it.
 */
export function wordsByLanguage(question: string): ReadonlySet<string>[] {
  const languages = languagesOf(wordsOf(question))
  const parts = new Map<string, Set<string>>()
  let [current = ''] = languages
  for (const clause of question.split(/[.,;:!?…()\n]+/)) {
    const words = wordsOf(clause).map((word) => ({
      word,
      language: languages.find((language) => isStopWord(word, [language])),
    }))
    const spoken = words.flatMap(({ language }, place) => (language === undefined ? [] : [{ language, place }]))
    let next = 0
    for (const [place, { word, language }] of words.entries()) {
      if (language !== undefined) continue
      while (next < spoken.length && (spoken[next]?.place ?? 0) < place) next += 1
      const [before, after] = [spoken[next - 1], spoken[next]]
      const isAfterNearer = after && (!before || after.place - place < place - before.place)
      current = (isAfterNearer ? after : before)?.language ?? current
      parts.set(current, (parts.get(current) ?? new Set()).add(word))
    }
  }
  return [...parts.values()]
}

function weigh(word: string): number {
  if (!HAN.test(word)) return 1
  const signs = Array.from(word)
  const grammar = signs.filter((sign) => GRAMMAR_SIGNS.has(sign)).length
  return grammar === 0 ? 1 : grammar === signs.length ? 0 : HALF_GRAMMAR_WEIGHT
}

/** What a question asks with, by language: it stands in no answer. */
const ASKING: readonly (readonly [language: string, pattern: RegExp])[] = [
  ['english', ASKS_TO_BE_TOLD],
  ['english', ASKS_FOR_SIZE],
  ['german', ASKS_FOR_SIZE_IN_GERMAN],
  ['french', FRENCH_INVERSION],
]

/** @param languages that it may be in; all where nothing is said. */
export const withoutAsking = (question: string, languages?: readonly string[]): string =>
  ASKING.filter(([language]) => languages?.includes(language) ?? true).reduce(
    (rest, [, pattern]) => rest.replace(pattern, ' '),
    question.replace(ASKS_IN_SIGNS, ' '),
  )

/** The terms to look for. @param languages of the library that is searched. */
export async function termsOfQuestion(
  scope: Scope,
  question: string,
  languages: readonly string[],
): Promise<AskedTerms> {
  const words = wordsOf(withoutAsking(question, languages))
  const spoken = languagesOf(words).filter((language) => languages.includes(language))
  const telling = words.filter((word) => !isStopWord(word, spoken.length > 0 ? spoken : languages) && weigh(word) > 0)
  const asked = telling.length > 0 ? telling : wordsOf(question)
  const stems = await stemByLanguage(scope, asked, languages)
  const formsOf = new Map([...stems].map(([word, terms]) => [word, invert(terms)]))
  const terms = new Map<string, AskedTerm>()
  for (const word of asked) {
    const forms = formsOf.get(word) ?? new Map<string, string[]>()
    const name = nameOfTerms(forms.keys())
    terms.set(name, { forms, weight: (terms.get(name)?.weight ?? 0) + (weigh(word) || 1) })
  }
  return { terms, words: new Map([...formsOf].map(([word, forms]) => [word, [...forms.keys()]])) }
}

/** Each term with the languages that have it. */
function invert(terms: ReadonlyMap<string, string>): Map<string, string[]> {
  const forms = new Map<string, string[]>()
  for (const [language, term] of terms) forms.set(term, [...(forms.get(term) ?? []), language])
  return forms
}
