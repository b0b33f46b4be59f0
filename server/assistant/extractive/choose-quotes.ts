/** What the Reader quotes: the sentences that answer best, that stand for a whole document, or that hold all of something. */
import { z } from 'zod'
import { pageBlock } from '#contract/document.ts'
import { isMessageSource, isPassageSource } from '#contract/source.ts'
import { joinUnspacedLines } from '#contract/unspaced-lines.ts'
import { withoutListAllWords } from '#server/assistant/retrieval/whole-document-question.ts'
import { type Scope } from '#server/database/scope.ts'
import { readPagesWithNeighbours } from '#server/documents/store/pages.ts'
import { listLanguages } from '#server/search/index/segments.ts'
import { termsOfQuestion, wordsByLanguage } from '#server/search/query/parse-question.ts'
import { stemWords } from '#server/search/text/stemmer.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { centralSentences } from './central-sentences.ts'
import { asksForDates, containsDate } from './dates.ts'
import { asksForNumber, numberFactor } from './numbers.ts'
import { findPageBody } from './page-edges.ts'
import { type QuotableSource, withoutExtension, containerIdOf } from './quotable.ts'
import { type Sentence, sentencesOf } from './sentences.ts'

/** The terms of each word: one for each way in which a language of the library stems it. */
type QuestionPart = readonly (readonly string[])[]

/** A question and the sentences at hand, with everything that choosing quotes needs to know about their words. */
export interface QuoteCandidates {
  /** What is asked, apart for each language that it is asked in. */
  readonly questionParts: readonly QuestionPart[]
  /** Whether the answer is a number or a day. */
  readonly wantsNumber: boolean
  /** In reading order, passage by passage, the best passage first. */
  readonly sentences: readonly Sentence[]
  /** The terms of each word, as the search makes them. */
  readonly stems: ReadonlyMap<string, readonly string[]>
}

const MAX_QUOTES = 3
/** Of a whole document more is told, and more where everything of a kind is asked for. */
const MAX_SUMMARY_QUOTES = 5
const MAX_LIST_ALL_QUOTES = 10
/** So many pages of long documents are looked at: nobody else is answered meanwhile. */
const MAX_SUMMARISED_PAGES = 60
const MAX_LIST_ALL_PAGES = 12
/** What one is worth that holds nothing but words of the question: a title, or a piece of one. */
const REPETITION_FACTOR = 0.3
/** What one is worth that only tells where something stands: at the edge of page after page, or in a list of contents. */
const NAVIGATION_FACTOR = 0.3
/** So much of a page is looked at for what it has at its edges. */
const EDGE_CHARACTERS = 400
/** A quote of fewer characters takes the next sentence along, which often holds the answer to what the first one names. */
const SHORT_QUOTE_CHARACTERS = 120
/** A passage that scores below this share of the best one adds noise rather than an answer. */
const MIN_SOURCE_SCORE_SHARE = 0.65
/** Below this share of the question's words, in each language that it is in, the best passage is about something else ... */
const MIN_COVERAGE = 0.3
/** ... and below so many, where it asks for more than two: one word in common is chance. */
const MIN_COVERED_WORDS = 2
/** A word in the heading above a sentence tells what it is about, less surely than one in the sentence. */
const HEADING_WEIGHT = 0.5
/** Further quotes score at least this share of the first, or they answer something else. */
const MIN_QUOTE_SCORE_SHARE = 0.5

/** Prepares passages and their words with the stemmers of the person's library. Run as the person. */
export async function prepareCandidates(
  scope: Scope,
  question: string,
  sources: readonly QuotableSource[],
): Promise<QuoteCandidates> {
  return stemCandidates(scope, question, await readSentences(scope, sources))
}

async function readSentences(scope: Scope, sources: readonly QuotableSource[]): Promise<Sentence[]> {
  const passages = sources.filter(isPassageSource)
  const pages = await readPagesWithNeighbours(scope, passages, EDGE_CHARACTERS)
  const pageOf = new Map(pages.map((row) => [`${row.document_id} ${row.page}`, row]))
  return sources.flatMap((source) => {
    if (isMessageSource(source))
      return sentencesOf(source, { text: source.text }, { start: 0, end: source.text.length })
    const page = pageOf.get(`${source.documentId} ${source.page}`)
    if (!page) return []
    const blocks = z.array(pageBlock).nullable().parse(page.blocks)
    return sentencesOf(source, { text: page.text, blocks, body: findPageBody(page.text, page.page, page.near) }, source)
  })
}

/** Prepares a text that is no document, as if it were the only page of one with this name. Run as the person. */
export function prepareTextCandidates(
  scope: Scope,
  question: string,
  name: string,
  text: string,
): Promise<QuoteCandidates> {
  const source = { n: 1, documentId: '', filename: name, page: 1, start: 0, end: text.length, text, score: 1 }
  return stemCandidates(scope, question, sentencesOf(source, { text }, source))
}

async function stemCandidates(
  scope: Scope,
  question: string,
  sentences: readonly Sentence[],
): Promise<QuoteCandidates> {
  const languages = await listLanguages(scope)
  const { words: asked } = await termsOfQuestion(scope, question, languages)
  const parts = wordsByLanguage(question).map((part) => [...asked].filter(([word]) => part.has(word)))
  const sources = new Set(sentences.map(({ source }) => source))
  const words = new Set([
    ...sentences.flatMap((sentence) => [...sentence.words, ...sentence.headingWords]),
    ...[...sources].flatMap(filenameWords),
  ])
  return {
    // Where all are stop words, they are what is asked. "Contract" and "contracts" ask for one thing.
    questionParts: (parts.flat().length > 0 ? parts : [[...asked]]).map((part) => [
      ...new Map(part.map(([, terms]) => [terms.join(' '), terms])).values(),
    ]),
    wantsNumber: asksForNumber(question),
    sentences,
    stems: await stemWords(scope, words, languages),
  }
}

/** Of the name of the file, which tells what it is about, though nothing of which sentence answers. */
const filenameWords = (source: QuotableSource): readonly string[] =>
  isPassageSource(source) ? wordsOf(withoutExtension(source.filename)) : []

interface SentenceTerms {
  readonly terms: ReadonlySet<string>
  readonly headingTerms: ReadonlySet<string>
}

/**
 * Rare terms tell more: inverse document frequency over the sentences at hand (Robertson and Spärck Jones). A heading's
 * terms stand above many sentences, so they are counted there only where no sentence has them.
 */
function weighTerms(terms: ReadonlySet<string>, sentences: readonly SentenceTerms[]): Map<string, number> {
  return new Map(
    [...terms].map((term) => {
      const frequency =
        sentences.filter((sentence) => sentence.terms.has(term)).length ||
        sentences.filter(({ headingTerms }) => headingTerms.has(term)).length
      return [term, Math.log(1 + (sentences.length - frequency + 0.5) / (frequency + 0.5))]
    }),
  )
}

type QuotedSentence = Pick<Sentence, 'source' | 'start' | 'end' | 'pageText' | 'titles'>

/** The source as what exactly is quoted of it. */
function toQuote({ source, start, end, pageText, titles }: QuotedSentence, n: number): QuotableSource {
  const text = pageText.slice(start, end)
  if (isMessageSource(source)) return { ...source, n, text }
  return { ...source, n, start, end, text, ...(titles === '' ? {} : { titles }) }
}

function isSamePage(one: QuotableSource, other: QuotableSource): boolean {
  if (isMessageSource(one) || isMessageSource(other)) return one === other
  return one.documentId === other.documentId && one.page === other.page
}

/**
 * What a page's line breaks did to the words: a hyphen at the end of a line joins, and so does a script without blanks; any
 * other break is a blank.
 */
export const joinLines = (text: string) =>
  joinUnspacedLines(text)
    .replace(/(\p{L})[-\u00ad]\s*\n\s*(?=\p{Ll})/gu, '$1')
    .replace(/-\s*\n\s*/g, '-')
    .replace(/\s+/g, ' ')

/** Titles with the numbers of their pages, which go up, the last at the end. */
function isTableOfContentsEntry({ pageText, start, end, isRow }: Sentence): boolean {
  const text = pageText.slice(start, end)
  const numbers = (text.match(/(?<!\S)\d{1,4}(?!\S)/g) ?? []).map(Number)
  const isAscending = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
  return !isRow && numbers.length > 1 && isAscending && /\p{L}\S*\s+\d{1,4}$/u.test(text)
}

const matchWeight = (term: string, given: SentenceTerms): number =>
  given.terms.has(term) ? 1 : given.headingTerms.has(term) ? HEADING_WEIGHT : 0

/** Picks the sentences that answer, best first, as sources that hold exactly what is quoted. */
export function chooseQuotes(
  { questionParts, wantsNumber, sentences, stems }: QuoteCandidates,
  most = MAX_QUOTES,
): QuotableSource[] {
  // Scores of documents and of messages come from different libraries: each counts against the best of its kind.
  const bestOf = (isOfKind: (source: QuotableSource) => boolean) =>
    sentences.find(({ source }) => isOfKind(source))?.source.score ?? 0
  const best = { passage: bestOf(isPassageSource), message: bestOf(isMessageSource) }
  const relevanceOf = (source: QuotableSource) => {
    const bestScore = isMessageSource(source) ? best.message : best.passage
    // Pages that were read without a search count alike.
    return bestScore === 0 ? 1 : source.score / bestScore
  }
  const questionWords = questionParts.flat()
  const asked = new Set(questionWords.flat())
  const termsIn = (words: readonly string[]) => new Set(words.flatMap((word) => stems.get(word) ?? []))
  const all = sentences.map((sentence) => ({
    ...sentence,
    terms: termsIn(sentence.words),
    headingTerms: termsIn(sentence.headingWords),
  }))
  const covered = new Map<QuotableSource, Set<string>>()
  for (const { source, terms, headingTerms } of all) {
    const before = covered.get(source) ?? asked.intersection(termsIn(filenameWords(source)))
    covered.set(source, before.union(asked.intersection(terms.union(headingTerms))))
  }
  const isCovered = (part: QuestionPart) =>
    [...covered.values()].some((found) => {
      const words = part.filter((terms) => terms.some((term) => found.has(term))).length
      return words >= (part.length > 2 ? Math.max(MIN_COVERED_WORDS, MIN_COVERAGE * part.length) : 1)
    })
  if (!questionParts.some(isCovered)) return []

  const weights = weighTerms(asked, all)
  const saysMore = ({ words }: Sentence) =>
    words.some((word) => word.length > 1 && !(stems.get(word) ?? [word]).some((term) => asked.has(term)))
  const fitness = (sentence: Sentence) =>
    (wantsNumber ? numberFactor(sentence.pageText.slice(sentence.start, sentence.end)) : 1) *
    (saysMore(sentence) ? 1 : REPETITION_FACTOR) *
    (sentence.isAtEdge || isTableOfContentsEntry(sentence) ? NAVIGATION_FACTOR : 1)
  const ranked = all
    .map((sentence, index) => {
      const matched = questionWords.reduce(
        (sum, terms) => sum + Math.max(...terms.map((term) => (weights.get(term) ?? 0) * matchWeight(term, sentence))),
        0,
      )
      return {
        ...sentence,
        following: all[index + 1],
        score: matched * fitness(sentence) * (0.5 + 0.5 * relevanceOf(sentence.source)),
      }
    })
    .filter(({ source, score }) => score > 0 && relevanceOf(source) >= MIN_SOURCE_SCORE_SHARE)
    .sort((one, other) => other.score - one.score)
  // A row below the same titles that has less of what was asked is about something else in the same columns.
  const isFurtherRow = (row: SentenceTerms & QuotedSentence, other: SentenceTerms & QuotedSentence): boolean => {
    const [found, foundThere] = [asked.intersection(row.terms), asked.intersection(other.terms)]
    return (
      row.titles !== '' &&
      row.titles === other.titles &&
      isSamePage(row.source, other.source) &&
      found.size < foundThere.size &&
      found.isSubsetOf(foundThere)
    )
  }
  const chosen: (SentenceTerms & QuotedSentence & { score: number })[] = []
  for (const sentence of ranked) {
    const { source, start, end, pageText, isRow, following, score } = sentence
    if (chosen.length === most || score < (ranked[0]?.score ?? 0) * MIN_QUOTE_SCORE_SHARE) break
    if (isRow && chosen.some((other) => isFurtherRow(sentence, other))) continue
    const takesNext =
      !isRow &&
      end - start < SHORT_QUOTE_CHARACTERS &&
      following?.source === source &&
      !following.isRow &&
      !following.isAtEdge &&
      following.start - end < 3
    const quoteEnd = takesNext ? following.end : end
    // The same words from another copy, or a page that repeats them, are no second answer.
    const isKnown = chosen.some(
      (other) =>
        joinLines(other.pageText.slice(other.start, other.end)).includes(joinLines(pageText.slice(start, end))) ||
        (isSamePage(other.source, source) && start < other.end && other.start < quoteEnd),
    )
    if (!isKnown) chosen.push({ ...sentence, end: quoteEnd })
  }
  // Rows below the same titles are shown as one table: they are counted in that order.
  const shown = [...Map.groupBy(chosen, (quoted) => quoted.titles || quoted).values()].flat()
  return shown.map((quoted, index) => ({ ...toQuote(quoted, index + 1), score: quoted.score }))
}

/**
 * What the material comes back to, of each document, for a question about all of it or about nothing in particular; how it
 * begins where it has no whole sentences. Run as the person.
 */
export async function quoteSummary(scope: Scope, sources: readonly QuotableSource[]): Promise<QuotableSource[]> {
  const documents = [...Map.groupBy(sources, containerIdOf).values()]
  const pages = documents.flatMap((all) => sampleEvenly(all, Math.ceil(MAX_SUMMARISED_PAGES / documents.length)))
  const sentences = Map.groupBy(await readSentences(scope, pages), ({ source }) => containerIdOf(source))
  const count = sentences.size > 1 ? 1 : MAX_SUMMARY_QUOTES
  return [...sentences.values()]
    .flatMap((all) => {
      const [first] = all
      const central = centralSentences(
        all,
        first && isPassageSource(first.source) ? withoutExtension(first.source.filename) : '',
        count,
      )
      return central.length > 0 ? central : all.slice(0, Math.min(count, MAX_QUOTES))
    })
    .map((sentence, index) => toQuote(sentence, index + 1))
}

/** So many of them at most, the first and others at even distances. */
const sampleEvenly = <T>(all: readonly T[], most: number): T[] =>
  all.filter((_, index) => Math.floor((index * most) / all.length) !== Math.floor(((index - 1) * most) / all.length))

/** Every sentence that names a day, in the order of the document, each once. */
async function quoteDates(scope: Scope, sources: readonly QuotableSource[]): Promise<QuotableSource[]> {
  const seen = new Set<string>()
  return (await readSentences(scope, sampleEvenly(sources, MAX_SUMMARISED_PAGES)))
    .filter(({ pageText, start, end, isAtEdge }) => {
      const text = joinLines(pageText.slice(start, end))
      const isNew = !isAtEdge && containsDate(text) && !seen.has(text)
      seen.add(text)
      return isNew
    })
    .slice(0, MAX_LIST_ALL_QUOTES)
    .map((sentence, index) => toQuote(sentence, index + 1))
}

/** Everything of the kind that the question asks for, in the pages that hold most of its words. Run as the person. */
export async function quoteAll(
  scope: Scope,
  asked: string,
  sources: readonly QuotableSource[],
): Promise<QuotableSource[]> {
  // The name of a document says which one is meant, and nothing of what is looked for in it.
  const names = new Set(
    sources.filter(isPassageSource).flatMap(({ filename }) => [filename, withoutExtension(filename)]),
  )
  const question = [...names].reduce(
    (rest, name) => rest.replaceAll(name.toLowerCase(), ' '),
    withoutListAllWords(asked).toLowerCase(),
  )
  if (asksForDates(question)) return quoteDates(scope, sources)
  const words = [...new Set(wordsOf(question))]
  const held = sources.map((source) => {
    const text = source.text.toLowerCase()
    return { source, count: words.filter((word) => text.includes(word)).length }
  })
  const best = new Set(held.toSorted((one, other) => other.count - one.count).slice(0, MAX_LIST_ALL_PAGES))
  const pages = held.filter((page) => best.has(page)).map(({ source }) => source)
  return chooseQuotes(await prepareCandidates(scope, question, pages), MAX_LIST_ALL_QUOTES)
}
