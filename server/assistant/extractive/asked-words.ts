/** Roles of the words of a question: those that only ask, names, years, and the words for what is asked about a subject. */
import { COMMON_WORDS } from '#server/search/text/common-words.ts'
import { isStopWord } from '#server/search/text/stop-words.ts'
import { isMostlyEnglish } from '#server/search/text/text-language.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

const ASKING = setOf(`what which who whom whose when where why how
  wer wem wen was welche welcher welches welchem welchen wie wo wann warum womit wieviel wieviele weshalb
  qui que quel quelle quels quelles quand où comment combien pourquoi
  quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas
  chi che quale quali quando dove come perché quem qual quais onde quanto quanta quantos quantas quanti quante
  wat welk welke wanneer waar hoe hoeveel hvem hva hvilken hvilket hvilke hvor når hvorfor vem vad vilken vilket vilka varför hur
  kto co jaki jaka jakie który która które ile kiedy gdzie dlaczego czy
  кто что какой какая какое какие когда где сколько как почему من ما ماذا كم متى أين كيف أي لماذا چه چند چقدر`)

/** Verbs, articles and pronouns between the asking word and the words for what is asked. */
const PASSED_OVER =
  setOf(`is are was were be been being do does did has have had having can could may might must shall should will would the a an i me my you your we
  us our they them their he him his she her it its there this that these those many much more most long high old often far tall big not no any some
  am ist sind war waren wird werden wurde wurden hat haben hatte kann können darf dürfen muss müssen soll sollen der die das den dem ein eine einen
  einem einer eines viele viel hoch lange lang oft alt man ich wir sie er es gibt beträgt liegt
  est sont été était a ont le la les un une l d elle il on je nous vous t faut fait
  es son fue fueron ha han hay puede pueden debe el los las una unos unas se su sus lo
  è sono ha hanno il lo gli i uno o os as um uma é são foi foram
  er var har kan skal en et den det de mange mye meget många mycket heeft hebben zijn het een veel
  jest są był była było были был это s`)

const ENDING =
  setOf(`of for in on at to from by with without per under within about against between among during over through according after before
  into than and or if while as since until because
  von vom für im am an auf zu zum zur aus bei mit nach des und oder über ohne laut gegen wenn seit bis
  pour dans par sur sous avec au aux du en et ou sans selon si
  para por con del al sin sobre según y o di da della del dei nel nella per em no na do dos das com
  voor op met bij van door til av i på for med om w na z od dla o po в на из от с по для о к у в`)

/** Words of questions about any subject. */
const GENERAL =
  setOf(`according say says said mean means called name names named kind type sort thing things way tell give gives take takes get gets make makes use used uses put one
  happen happens happened come comes go goes amount number total value exactly
  heißt heißen laut sagt steht bedeutet namen name art anzahl
  dit appelle nombre nom según dice llama nome chiama chama heet heter hedder nummer называется зовут`)

export interface AskedWords {
  /** The words for what is asked about the subject: "hourly", "rate" in "What is the hourly rate of the project manager?". */
  readonly asked: ReadonlySet<string>
  /** Words with a capital inside the sentence; in German every noun has one, so that they name nothing. */
  readonly names: ReadonlySet<string>
  /** Without a subject of their own: they ask, join, or belong to questions about anything. */
  readonly general: ReadonlySet<string>
  readonly years: readonly number[]
}

/** Capitalised in English: languages, nations, and kinds of files, by which people refer to a document. */
const DESCRIBES_DOCUMENT =
  setOf(`english german french spanish italian portuguese dutch russian polish norwegian swedish danish finnish japanese chinese
  korean arabic persian iranian turkish greek hebrew hindi american british european african asian australian canadian
  word excel powerpoint pdf pdfs file sheet workbook`)

const COMMON = setOf(Object.values(COMMON_WORDS).join(' '))
const GERMAN = setOf(COMMON_WORDS['german'] ?? '')
const TOKEN = /[\p{L}\p{N}\p{M}]+|[,;:?!.()]/gu
const YEAR = /(?<![\p{N}.,])(?:1[5-9]|20)\p{N}{2}(?![\p{N}]|[.,]\p{N})/gu
const MIN_GERMAN_WORDS = 2

/** Nouns and verbs of English that are function words of German, Dutch, Swedish, Norwegian or Danish. */
const NOT_GENERAL_IN_ENGLISH = setOf('die man war hat art')

const isGeneral = (word: string): boolean =>
  ASKING.has(word) || PASSED_OVER.has(word) || ENDING.has(word) || GENERAL.has(word) || COMMON.has(word)

/** @returns whether a word of this question is general */
function generalWordsOf(tokens: readonly string[]): (word: string) => boolean {
  const words = tokens.map((token) => token.toLowerCase())
  const isEnglish = isMostlyEnglish(words.filter((word) => !NOT_GENERAL_IN_ENGLISH.has(word)))
  return (word) => isGeneral(word) && !(isEnglish && NOT_GENERAL_IN_ENGLISH.has(word))
}

function findAsked(tokens: readonly string[], isGeneralHere: (word: string) => boolean): string[] {
  const first = tokens.findIndex((token) => ASKING.has(token.toLowerCase()))
  const asked: string[] = []
  if (first < 0) return asked
  for (const token of tokens.slice(first + 1)) {
    const word = token.toLowerCase()
    const isEnd = /^[,;:?!.()]$/.test(word) || (ENDING.has(word) && !PASSED_OVER.has(word))
    if (isEnd && asked.length > 0) break
    if (!isEnd && word.length > 1 && !isGeneralHere(word)) asked.push(word)
  }
  return asked
}

/** Words of scripts without blanks have no roles. */
export function findAskedWords(question: string): AskedWords {
  const tokens = question.normalize('NFKC').match(TOKEN) ?? []
  const isGerman =
    tokens.filter((token) => GERMAN.has(token.toLowerCase()) || isStopWord(token.toLowerCase(), ['german'])).length >=
    MIN_GERMAN_WORDS
  const isGeneralHere = generalWordsOf(tokens)
  const isAfterWord = (index: number) => index > 0 && !/^[?!.:]$/.test(tokens[index - 1] ?? '')
  const isName = (token: string, index: number) =>
    /^\p{Lu}/u.test(token) && isAfterWord(index) && !isGerman && !DESCRIBES_DOCUMENT.has(token.toLowerCase())
  const names = tokens.filter(isName)
  return {
    asked: new Set(findAsked(tokens, isGeneralHere).flatMap(wordsOf)),
    names: new Set(names.flatMap(wordsOf)),
    general: new Set(tokens.map((token) => token.toLowerCase()).filter(isGeneralHere)),
    years: [...new Set((question.match(YEAR) ?? []).map(Number))],
  }
}

/** "Diffie-Hellman", "World Health Organization": initials of two words are common, unless these are joined. */
const NAMES_WITH_INITIALS =
  /(?<!\p{L})\p{Lu}\p{Ll}+(?:[-–]\p{Lu}\p{Ll}+)+(?!\p{L})|(?<!\p{L})\p{Lu}\p{Ll}+(?: (?:(?:of|for|and|the|on) ){0,2}\p{Lu}\p{Ll}+){2,}(?!\p{L})/gu

/** @returns the initials of each name of several words, by its words as the tokenizer yields them */
export function findInitials(question: string): ReadonlyMap<string, string> {
  return new Map(
    [...question.normalize('NFKC').matchAll(NAMES_WITH_INITIALS)].flatMap(([found]) => {
      // A question begins with a capital: "Which World Health Organization …".
      const name = found.replace(/^\p{L}+(?= )/u, (first) => (isGeneral(first.toLowerCase()) ? '' : first))
      const initials = [...name.matchAll(/\p{Lu}/gu)].join('')
      return wordsOf(name).map((word) => [word, initials] as const)
    }),
  )
}
