/** Sentences that may be quoted for a question, with the stemmed words of both. Runs as the person. */
import { z } from 'zod'
import { pageBlock } from '#contract/document.ts'
import { isMessageSource, isPassageSource, type PassageSource } from '#contract/source.ts'
import type { Scope } from '#server/database/scope.ts'
import { readPagesWithNeighbours } from '#server/documents/store/pages.ts'
import { type LibraryIndex, openLibraryIndex } from '#server/search/index/library-index.ts'
import { readTerms } from '#server/search/index/posting-lookup.ts'
import { type AddedTerms, findAddedTerms } from '#server/search/query/added-words.ts'
import { type ExpandedQuestion, expandQuestion } from '#server/search/query/expansion.ts'
import { groupWordsByLanguage, type ParsedQuestion, parseQuestion } from '#server/search/query/parse-question.ts'
import { weighWord } from '#server/search/query/word-weight.ts'
import { idf } from '#server/search/ranking/bm25.ts'
import { stemWords } from '#server/search/text/stemmer.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { type AnswerKind, answerKindOf } from './answer-kind.ts'
import { type DefinedSubject, definedSubject } from './definitions.ts'
import { asksForSeveral } from './lists.ts'
import { asksForNumber } from './numbers.ts'
import { findPageBody } from './page-edges.ts'
import { type QuotableSource, withoutExtension } from './quotable.ts'
import { type Sentence, sentencesOf } from './sentences.ts'

/** The terms of each word, one per stemming language of the library. */
export type QuestionPart = readonly (readonly string[])[]

export interface WordImportance {
  /** Inverse document frequency in the library. */
  readonly rarity: number
  /** 1 for a word about the subject, less for one of grammar or of the question before. */
  readonly share: number
}

export interface QuoteCandidates {
  readonly questionParts: readonly QuestionPart[]
  readonly wantsNumber: boolean
  /** Sources of the answer before, if the question continues the one before. */
  readonly cited?: readonly PassageSource[]
  readonly asksForSeveral?: boolean
  readonly answerKind?: AnswerKind | undefined
  readonly definedSubject?: DefinedSubject | undefined
  /** By the terms of each word of the question. */
  readonly importance?: ReadonlyMap<string, WordImportance>
  /** Also sentences that hold too little of the question to answer it. */
  readonly isNearestWanted?: boolean
  /** In reading order within each passage, the best passage first. */
  readonly sentences: readonly Sentence[]
  readonly stems: ReadonlyMap<string, readonly string[]>
  /** Weights below 1 of synonyms and translations among the terms of `questionParts`. */
  readonly addedWeights?: ReadonlyMap<string, number>
  /** Synonyms and translations of words that sentences hold as well, with their weights, by the terms of each word. */
  readonly otherForms?: ReadonlyMap<string, ReadonlyMap<string, number>>
}

/** The question as it was looked up in the library. */
export interface LookedUpQuestion {
  readonly library: LibraryIndex
  readonly parsed: ParsedQuestion
  readonly expanded: ExpandedQuestion
  readonly addedTerms: AddedTerms
}

export interface PreparedCandidates extends QuoteCandidates {
  readonly lookedUp: LookedUpQuestion
}

const EDGE_CHARACTERS = 400

/** @param asked the part of the question that says what is wanted, if it continues another one */
export async function prepareCandidates(
  scope: Scope,
  question: string,
  sources: readonly QuotableSource[],
  asked = question,
): Promise<PreparedCandidates> {
  return stemCandidates(scope, question, await readSentences(scope, sources), asked)
}

export function prepareTextCandidates(
  scope: Scope,
  question: string,
  name: string,
  text: string,
): Promise<QuoteCandidates> {
  const source = { n: 1, documentId: '', filename: name, page: 1, start: 0, end: text.length, text, score: 1 }
  return stemCandidates(scope, question, sentencesOf(source, { text }, source))
}

export async function readSentences(scope: Scope, sources: readonly QuotableSource[]): Promise<Sentence[]> {
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

/** File name words identify the subject of a passage, but not the sentence that answers. */
export const filenameWords = (source: QuotableSource): readonly string[] =>
  isPassageSource(source) ? wordsOf(withoutExtension(source.filename)) : []

async function stemCandidates(
  scope: Scope,
  question: string,
  sentences: readonly Sentence[],
  asked = question,
): Promise<PreparedCandidates> {
  const library = await openLibraryIndex(scope)
  const parsed = await parseQuestion(scope, question, library.languages)
  const expanded = await expandQuestion(scope, library, parsed)
  const sources = new Set(sentences.map(({ source }) => source))
  const subject = definedSubject(asked)
  const words = new Set([
    ...sentences.flatMap((sentence) => [...sentence.words, ...sentence.headingWords]),
    ...[...sources].flatMap(filenameWords),
    ...(subject?.words ?? []),
  ])
  const stems = await stemWords(scope, words, library.languages)
  const held = new Set([...stems.values()].flat())
  const addedTerms = await findAddedTerms(scope, library, parsed, expanded)
  const termsOf = (word: string) => parsed.words.get(word) ?? []
  // Words that no sentence has as they were typed are looked for in other words, as far as those are rare.
  const added = [...addedTerms.searched].filter(([word]) => !termsOf(word).some((term) => held.has(term)))
  const questionWords = new Map([...parsed.words, ...added.map(([word, terms]) => [word, [...terms.keys()]] as const)])
  const parts = groupWordsByLanguage(question).map((part) => [...questionWords].filter(([word]) => part.has(word)))
  return {
    // Stop words count only if there are no others. Words with equal terms count once ("contract", "contracts").
    questionParts: (parts.flat().length > 0 ? parts : [[...questionWords]]).map((part) => [
      ...new Map(part.map(([, terms]) => [terms.join(' '), terms])).values(),
    ]),
    wantsNumber: asksForNumber(asked),
    answerKind: answerKindOf(asked),
    definedSubject: subject,
    asksForSeveral: asksForSeveral(asked),
    importance: await measureImportance(scope, library, questionWords, new Set(wordsOf(asked))),
    sentences,
    stems,
    lookedUp: { library, parsed, expanded, addedTerms: addedTerms.searched },
    addedWeights: new Map(added.flatMap(([, terms]) => [...terms])),
    otherForms: new Map([...addedTerms.all].map(([word, terms]) => [termsOf(word).join(' '), terms])),
  }
}

async function measureImportance(
  scope: Scope,
  library: LibraryIndex,
  questionWords: ReadonlyMap<string, readonly string[]>,
  asked: ReadonlySet<string>,
): Promise<Map<string, WordImportance>> {
  const postings = await readTerms(scope, library, [...questionWords.values()].flat())
  const measured = [...questionWords].map(([word, terms]) => {
    const frequency = Math.max(...terms.map((term) => postings.get(term)?.frequency ?? 0))
    const rarity = idf(library, frequency)
    return { key: terms.join(' '), isAsked: asked.has(word), rarity, share: weighWord(word) || 1 }
  })
  const total = (isAsked: boolean) =>
    measured.filter((each) => each.isAsked === isAsked).reduce((sum, { rarity, share }) => sum + rarity * share, 0)
  // Words of the question before say where to look: together they weigh at most half of those that say what for.
  // "Why?" has no words of its own.
  const ofAsked = total(true)
  const earlier = ofAsked === 0 ? 1 : Math.min(1, ofAsked / 2 / total(false))
  return new Map(
    measured.map(({ key, isAsked, rarity, share }) => [key, { rarity, share: isAsked ? share : share * earlier }]),
  )
}
