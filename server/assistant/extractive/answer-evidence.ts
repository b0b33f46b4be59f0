/** How far quotations and what stands around them hold the words of a question. */
import { isPassageSource, type PassageSource } from '#contract/source.ts'
import type { Scope } from '#server/database/scope.ts'
import { uniteAlternatives } from '#server/search/index/joined-terms.ts'
import { readPassageFilter } from '#server/search/index/library-index.ts'
import { readTerms, type TermPostings } from '#server/search/index/posting-lookup.ts'
import { termKey } from '#server/search/query/parse-question.ts'
import { weighWord } from '#server/search/query/word-weight.ts'
import { detectStemmer } from '#server/search/text/detect-language.ts'
import { stemByLanguage } from '#server/search/text/stemmer.ts'
import { isForeignTo } from '#server/search/text/text-language.ts'
import { foldAccents, wordsOf } from '#server/search/text/tokenizer.ts'
import { type AnswerKind, answerKindOf, holdsAnswer } from './answer-kind.ts'
import { type AskedWords, findAskedWords, findInitials } from './asked-words.ts'
import type { QuotableSource } from './quotable.ts'
import type { LookedUpQuestion, PreparedCandidates } from './quote-candidates.ts'
import type { Sentence } from './sentences.ts'

/** Where a word of the question was found, the nearest place first. */
export type WordPlace = 'quote' | 'passage' | 'page' | 'document' | 'nowhere'

export interface WordEvidence {
  readonly word: string
  /** 0 to 1: how rare it is in the library, times its weight in the question. */
  readonly weight: number
  readonly place: WordPlace
  readonly isName: boolean
  /** Whether it says what is asked about the subject. */
  readonly isAsked: boolean
}

export interface AnswerEvidence {
  /** Those with a subject of their own. */
  readonly words: readonly WordEvidence[]
  /** Years of the question that neither the page nor the headings nor the file name hold. */
  readonly missingYears: readonly number[]
  readonly kind: AnswerKind | undefined
  /** The nearest place of an answer of that kind; `quote` if the question asks for none. */
  readonly kindPlace: WordPlace
  /** Whether a sentence or row holds both: most of what is asked, and an answer of that kind. */
  readonly isTogether: boolean
  /** The question is in another language than the page, so that most of its words cannot stand there. */
  readonly isForeign: boolean
}

/** Text of a page around a quotation: a sheet may hold megabytes. */
const PAGE_CHARACTERS = 3_000
const NEAR_CHARACTERS = 300
/** In smaller libraries it is chance whether a word is rare. */
const MIN_PASSAGES = 1_000
/** Vocabulary that replaces an unknown word is another form of it if it shares this much of its beginning. */
const SHARED_BEGINNING = 0.7
const MIN_SHARED_LETTERS = 5

const isFormOf = (term: string, word: string): boolean => {
  const letters = Math.max(MIN_SHARED_LETTERS, Math.ceil(SHARED_BEGINNING * word.length))
  return foldAccents(word).slice(0, letters) === term.slice(0, letters)
}

/** "2021-22" and "2021/2022" name both years. */
function holdsYear(text: string, year: number): boolean {
  const short = String(year % 100).padStart(2, '0')
  return new RegExp(String.raw`(?<!\d)(?:${String(year)}|${String(year - 1)}\s?[-–/]\s?${short})(?!\d)`).test(text)
}

/** A compound ("five-year") and a possessive ("Nestlé's") also yield a joined word, whose parts count already. */
function isJoined(word: string, words: ReadonlySet<string>): boolean {
  return Array.from({ length: word.length - 1 }, (_, index) => index + 1).some(
    (at) => words.has(word.slice(0, at)) && words.has(word.slice(at)),
  )
}

const holdsInitials = (text: string, initials: string | undefined): boolean =>
  initials !== undefined && new RegExp(String.raw`(?<!\p{L})${initials}(?!\p{L})`, 'u').test(text)

const around = ({ pageText }: Sentence, { start, end }: PassageSource, characters: number): string =>
  pageText.slice(Math.max(0, start - characters), end + characters)

interface QuestionWord extends Omit<WordEvidence, 'place'> {
  /** "language term", for each language of the library. */
  readonly forms: ReadonlySet<string>
  /** In any language of the library. */
  readonly terms: ReadonlySet<string>
  readonly postings: TermPostings
}

const sumOf = (words: readonly { readonly weight: number }[]): number =>
  words.reduce((sum, { weight }) => sum + weight, 0)

function occursIn(postings: TermPostings, isWanted: (passage: number) => boolean): boolean {
  let isFound = false
  postings.eachChunk(({ length, passages }) => {
    for (let index = 0; index < length && !isFound; index += 1) isFound = isWanted(passages[index] ?? 0)
  })
  return isFound
}

async function readQuestionWords(
  scope: Scope,
  { library, parsed, expanded, addedTerms: added }: LookedUpQuestion,
  { asked, names, general, years }: AskedWords,
): Promise<QuestionWord[]> {
  const ofAdded = await readTerms(
    scope,
    library,
    [...added.values()].flatMap((terms) => [...terms.keys()]),
  )
  const all = new Set(parsed.words.keys())
  const telling = [...all].filter(
    (word) => word !== 's' && !general.has(word) && !years.includes(Number(word)) && !isJoined(word, all),
  )
  const stems = await stemByLanguage(scope, telling, library.languages)
  const size = Math.max(MIN_PASSAGES, library.passages)
  const postings = new Map([...expanded.postings, ...ofAdded])
  return telling.map((word) => {
    const guesses = expanded.guessed.find((guessed) => guessed.word === word)?.terms ?? []
    // A synonym or a translation says that the passage is about it too.
    const otherForms = [...guesses.filter((term) => isFormOf(term, word)), ...(added.get(word)?.keys() ?? [])]
    const united = uniteAlternatives(
      library.lengths.length,
      [termKey(parsed.words.get(word) ?? []), ...otherForms].flatMap((key) => {
        const held = postings.get(key)
        return held ? [{ postings: held, weight: 1 }] : []
      }),
    )
    const rarity = Math.log(1 + size / (united.frequency + 0.5)) / Math.log(1 + size / 0.5)
    const own = [...(stems.get(word) ?? [])].map(([language, term]) => `${language} ${term}`)
    const other = library.languages.flatMap((language) => otherForms.map((term) => `${language} ${term}`))
    return {
      word,
      weight: rarity * weighWord(word),
      isName: names.has(word),
      isAsked: asked.has(word),
      forms: new Set([...own, ...other]),
      terms: new Set([...(parsed.words.get(word) ?? []), ...otherForms]),
      postings: united,
    }
  })
}

/** @returns the evidence of each quotation from a document, in their order. Runs as the person. */
export async function readEvidence(
  scope: Scope,
  question: string,
  quotes: readonly QuotableSource[],
  { sentences, stems, lookedUp }: Pick<PreparedCandidates, 'sentences' | 'stems' | 'lookedUp'>,
): Promise<AnswerEvidence[]> {
  const { library } = lookedUp
  const askedOf = findAskedWords(question)
  const words = await readQuestionWords(scope, lookedUp, askedOf)
  const initials = findInitials(question)
  const kind = answerKindOf(question)
  const formsIn = async (text: string, languages: readonly string[]): Promise<ReadonlySet<string>> => {
    const stems = await stemByLanguage(scope, wordsOf(text), languages)
    return new Set([...stems.values()].flatMap((terms) => [...terms].map(([name, term]) => `${name} ${term}`)))
  }
  const askedWords = words.filter(({ isAsked, isName }) => isAsked && !isName)
  const askedWeight = sumOf(askedWords)
  const isAnswer = ({ words: own, headingWords, pageText, start, end, titles }: Sentence): boolean => {
    const terms = new Set([...own, ...headingWords].flatMap((word) => stems.get(word) ?? []))
    const found = askedWords.filter(({ terms: asked }) => !asked.isDisjointFrom(terms))
    return (
      2 * sumOf(found) >= askedWeight &&
      (kind === undefined || holdsAnswer(kind, `${pageText.slice(start, end)}\n${titles}`))
    )
  }
  const read: AnswerEvidence[] = []
  for (const quote of quotes.filter(isPassageSource)) {
    const own = sentences.filter(
      ({ source }) => isPassageSource(source) && source.documentId === quote.documentId && source.page === quote.page,
    )
    const sentence = own.find(({ start, end }) => start < quote.end && quote.start < end) ?? own[0]
    if (!sentence) continue
    const titles = [quote.titles, quote.heading, quote.filename].filter((text) => text != null).join('\n')
    const page = `${around(sentence, quote, PAGE_CHARACTERS)}\n${titles}`.normalize('NFKC')
    const inDocument = await readPassageFilter(scope, library, [quote.documentId])
    const texts: readonly (readonly [WordPlace, string])[] = [
      ['quote', `${quote.text}\n${quote.titles ?? ''}`],
      ['passage', `${sentence.source.text}\n${titles}`],
      ['page', page],
    ]
    const stemmer = detectStemmer(page)
    const stemmed = library.languages.includes(stemmer) ? [stemmer] : library.languages
    const places = await Promise.all(texts.map(async ([place, text]) => [place, await formsIn(text, stemmed)] as const))
    const placeOf = ({ word, forms, postings }: QuestionWord): WordPlace =>
      places.find(([, found]) => !forms.isDisjointFrom(found))?.[0] ??
      texts.find(([, text]) => holdsInitials(text, initials.get(word)))?.[0] ??
      (occursIn(postings, inDocument) ? 'document' : 'nowhere')
    const near = [quote.text, `${around(sentence, quote, NEAR_CHARACTERS)}\n${titles}`, page] as const
    const kindAt = kind === undefined ? 0 : near.findIndex((text) => holdsAnswer(kind, text))
    read.push({
      words: words.map((found) => {
        const { word, weight, isName, isAsked } = found
        return { word, weight, isName, isAsked, place: placeOf(found) }
      }),
      missingYears: askedOf.years.filter((year) => !holdsYear(page, year)),
      kind,
      kindPlace: (['quote', 'passage', 'page'] as const)[kindAt] ?? 'nowhere',
      isTogether: own.some(isAnswer),
      isForeign: isForeignTo(question, page),
    })
  }
  return read
}
