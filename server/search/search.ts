/** Finds the passages that best answer a question: the one way into a person's documents, for every model and tool. */
import {
  type ConsideredPassage,
  type PassageScores,
  type RetrievalTrace,
  TRACE_CHARACTERS_PER_TOKEN,
} from '#contract/trace.ts'
import { AppError } from '#server/base/errors.ts'
import { type Scope } from '#server/database/scope.ts'
import { type Embedder } from '#server/providers/embed.ts'
import { createKeptBytes } from './index/lru-cache.ts'
import {
  joinForms,
  type Library,
  locate,
  openLibrary,
  readTerms,
  readVocabulary,
  type TermPostings,
} from './index/posting-lookup.ts'
import { type AskedTerms, isStopWord, nameOfTerms, termsOfQuestion } from './query/parse-question.ts'
import { guessTerms, lengthsAround } from './query/spelling.ts'
import { bestPassages, countScored, type Found, scoreNearness, scoreWords } from './ranking/bm25.ts'
import { collectTerms, FEEDBACK_PASSAGES, feedbackWeight, LARGEST_WIDENED, widen } from './ranking/query-expansion.ts'
import { type FoundPassage, readPassages, type StoredPassage } from './read-passages.ts'
import { stemWords } from './text/stemmer.ts'
import { wordsOf } from './text/tokenizer.ts'
import { modelInUse, type NearPassage, nearestPassages } from './vectors/vector-store.ts'

export interface SearchOptions {
  /** Narrows the search to these documents. */
  readonly documentIds?: readonly string[]
  readonly limit?: number
  /** Joins passages that follow one another on a page. */
  readonly joins?: boolean
  /** Finds by meaning as well, where the library has vectors. */
  readonly embedder?: Embedder | null
}

export interface SearchResult {
  /** Best first. */
  readonly passages: readonly FoundPassage[]
  readonly trace: RetrievalTrace
}

/** Passages that are looked at more closely. */
const CANDIDATES = 100
/** So many more than asked for are read, to stand in for copies and to be named in the trace. */
const SPARE = 8
const LONGEST_JOINED = 4_000
/** How much a stem counts in passages of a language that stems the word otherwise, where they hold none of their own. */
const OF_ANOTHER_LANGUAGE = 0.9
const EMBED_TIMEOUT_MS = 3_000
/** Of reciprocal rank fusion: how much the first ranks stand out. */
const RANK_OFFSET = 60

/** Best first. To be run as the person (`database.asUser`): the policies decide what there is to find. */
export async function searchPassages(
  scope: Scope,
  question: string,
  options: SearchOptions = {},
): Promise<FoundPassage[]> {
  return [...(await searchDocuments(scope, question, options)).passages]
}

/** The same, with how it went. */
export async function searchDocuments(
  scope: Scope,
  question: string,
  { documentIds, limit = 8, joins = false, embedder = null }: SearchOptions = {},
): Promise<SearchResult> {
  const startedAt = performance.now()
  const meaning = embedder && findByMeaning(scope, question, { embedder, documentIds: documentIds ?? null })
  // Awaited below; until then a failure must not count as one that nobody heard of.
  meaning?.catch(() => undefined)
  const library = await openLibrary(scope)
  const asked = await termsOfQuestion(scope, question, library.languages)
  const allowed = documentIds === undefined ? undefined : await numbersOf(scope, library, documentIds)
  const isAllowed = (passage: number) => allowed === undefined || allowed[passage] === 1
  const looked = await lookUp(scope, library, asked)
  const byWords = await rankPassages(scope, { library, asked, looked, isAllowed, limit: Math.max(CANDIDATES, limit) })
  const { near, notes } = (await meaning) ?? { near: [], notes: [] }
  const ranked = near.length > 0 ? fuse(library, byWords, near) : byWords
  const read = await readPassages(scope, library, ranked.order.slice(0, limit + SPARE))
  const { passages, considered } = choose(read, ranked, { limit, joins })
  const { weights, found } = looked
  return {
    passages,
    trace: {
      scope: 'passages',
      query: question,
      terms: [...weights].map(([term, weight]) => ({ term, weight, passages: found.get(term)?.frequency ?? 0 })),
      guessed: looked.guessed,
      considered,
      matched: ranked.matched,
      tokens: Math.ceil(passages.reduce((sum, { text }) => sum + text.length, 0) / TRACE_CHARACTERS_PER_TOKEN),
      ms: performance.now() - startedAt,
      notes,
    },
  }
}

interface Meaning {
  readonly near: readonly NearPassage[]
  readonly notes: string[]
}

/** A model of a person's own provider is keyed by the provider as well. */
const nameOfModel = (model: string): string => model.replace(/^endpoint:[^/]*\//, '')

/** Never fails: without vectors the words alone decide, and the trace says so. */
async function findByMeaning(
  scope: Scope,
  question: string,
  { embedder, documentIds }: { embedder: Embedder; documentIds: readonly string[] | null },
): Promise<Meaning> {
  const model = await modelInUse(scope, embedder.model)
  if (model === undefined) return { near: [], notes: ['No passage has a vector yet: found by words alone.'] }
  try {
    const signal = AbortSignal.timeout(EMBED_TIMEOUT_MS)
    const [asked] = await embedder.embed([question], { signal, model, retries: 0 })
    if (!asked) return { near: [], notes: [] }
    const notes =
      model === embedder.model
        ? []
        : [`Vectors of ${nameOfModel(model)}, until those of ${nameOfModel(embedder.model)} are complete.`]
    return { near: await nearestPassages(scope, model, asked, documentIds, CANDIDATES), notes }
  } catch (error) {
    // What the database refuses is no failure of the provider.
    if (!(error instanceof AppError) && !(error instanceof DOMException)) throw error
    return { near: [], notes: [`Found by words alone. ${error.message}`] }
  }
}

/** Reciprocal rank fusion (Cormack et al., 2009), scaled so that a passage which is first by both scores 1. */
function fuse(library: Library, byWords: Ranked, near: readonly NearPassage[]): Ranked {
  const bases = new Map(library.segments.map(({ segment, base }) => [segment, base]))
  const cosines = new Map<number, number>()
  for (const { segment, number, cosine } of near) {
    const base = bases.get(segment)
    if (base !== undefined) cosines.set(base + number, cosine)
  }
  const scores = new Map<number, number>()
  for (const order of [byWords.order, [...cosines.keys()]]) {
    for (const [rank, passage] of order.entries())
      scores.set(passage, (scores.get(passage) ?? 0) + (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + rank) / 2)
  }
  const scoreOf = (passage: number) => scores.get(passage) ?? 0
  return {
    order: [...scores.keys()].sort((one, other) => scoreOf(other) - scoreOf(one)),
    scoreOf,
    scoresOf(passage) {
      const meaning = cosines.get(passage)
      return { ...byWords.scoresOf(passage), ...(meaning === undefined ? {} : { meaning }) }
    },
    matched: byWords.matched,
  }
}

/** 1 for each passage of the documents, counted through all segments. */
async function numbersOf(scope: Scope, library: Library, documentIds: readonly string[]): Promise<Uint8Array> {
  const marks = new Uint8Array(library.lengths.length)
  const { rows } = await scope.prepared<{ segment: string; first_passage: number; passages: number }>(
    `select segment::text, first_passage, passages from document_index
     where document_id = any ($1) and owner = (select auth.uid()) and segment is not null`,
    [documentIds],
  )
  const bases = new Map(library.segments.map(({ segment, base }) => [segment, base]))
  for (const { segment, first_passage, passages } of rows) {
    const base = bases.get(segment)
    if (base !== undefined) marks.fill(1, base + first_passage, base + first_passage + passages)
  }
  return marks
}

interface LookedUp {
  readonly weights: ReadonlyMap<string, number>
  readonly found: Found
  readonly guessed: { word: string; terms: string[] }[]
}

/** Reads the postings of what was asked; a word that the library does not hold gives way to those that resemble it. */
async function lookUp(scope: Scope, library: Library, asked: AskedTerms): Promise<LookedUp> {
  const weights = new Map([...asked.terms].map(([name, { weight }]) => [name, weight]))
  const read = await readTerms(
    scope,
    library,
    [...asked.terms.values()].flatMap(({ forms }) => [...forms.keys()]),
  )
  const found = joinAsked(asked, read)
  const isUnknown = (terms: readonly string[]) => (found.get(nameOfTerms(terms))?.frequency ?? 0) === 0
  const unknown = [...asked.words].filter(([, terms]) => isUnknown(terms) && lengthsAround(terms[0] ?? '').length > 0)
  if (unknown.length === 0 || library.segments.length === 0) return { weights, found, guessed: [] }
  const lengths = [...new Set(unknown.flatMap(([, [term = '']]) => lengthsAround(term)))]
  const vocabulary = await readVocabulary(scope, library, lengths)
  const guessed: LookedUp['guessed'] = []
  for (const [word, terms] of unknown) {
    const elsewhere = terms.filter((term) => read.has(term)).map((term) => ({ term, weight: OF_ANOTHER_LANGUAGE }))
    const guesses = [...elsewhere, ...guessTerms(terms[0] ?? '', vocabulary)]
    for (const guess of guesses) if (!weights.has(guess.term)) weights.set(guess.term, guess.weight)
    if (guesses.length > 0) guessed.push({ word, terms: guesses.map((guess) => guess.term) })
  }
  const more = await readTerms(
    scope,
    library,
    guessed.flatMap(({ terms }) => terms),
  )
  return { weights, found: new Map([...found, ...more]), guessed }
}

/** By the names of what is asked for. */
function joinAsked({ terms }: AskedTerms, read: ReadonlyMap<string, TermPostings>): Map<string, TermPostings> {
  const found = new Map<string, TermPostings>()
  for (const [name, { forms }] of terms) {
    const held = [...forms].flatMap(([term, languages]) => {
      const postings = read.get(term)
      return postings ? [{ postings, languages }] : []
    })
    const [first] = held
    if (first) found.set(name, forms.size === 1 ? first.postings : joinForms(held))
  }
  return found
}

interface Ranked {
  /** Best first. */
  readonly order: readonly number[]
  readonly scoreOf: (passage: number) => number
  readonly scoresOf: (passage: number) => PassageScores
  readonly matched: number
}

interface Ranking {
  readonly library: Library
  readonly asked: AskedTerms
  readonly looked: LookedUp
  readonly isAllowed: (passage: number) => boolean
  readonly limit: number
}

/** By words and their nearness; by the subject as well, where the first passages are about one. */
async function rankPassages(scope: Scope, ranking: Ranking): Promise<Ranked> {
  const { library, asked, looked, isAllowed, limit } = ranking
  const { weights, found } = looked
  const words = scoreWords(library, weights, found)
  const byWords = bestPassages(words, limit, isAllowed)
  const wordScore = (passage: number) => words[passage] ?? 0
  const nearness = scoreNearness(library, weights.keys(), found, byWords)
  const near = (passage: number) => wordScore(passage) + (nearness.get(passage) ?? 0)
  const byNearness = byWords.toSorted((one, other) => near(other) - near(one))
  const matched = countScored(words)
  const lexical = (passage: number): PassageScores => ({
    words: wordScore(passage),
    nearness: nearness.get(passage) ?? 0,
  })
  const plain: Ranked = { order: byNearness, scoreOf: near, scoresOf: lexical, matched }

  const isLarge = library.passages > LARGEST_WIDENED
  const share = isLarge ? 0 : feedbackWeight(byWords.slice(0, 10).map(wordScore))
  if (share === 0) return plain
  const subjectTerms = await collectSubject(scope, library, byWords.slice(0, FEEDBACK_PASSAGES), wordScore)
  const names = new Map([...asked.terms].flatMap(([name, { forms }]) => [...forms.keys()].map((term) => [term, name])))
  const collected = subjectTerms.map(([term, weight]) => [names.get(term) ?? term, weight] as const)
  const more = await readTerms(
    scope,
    library,
    collected.map(([term]) => term).filter((term) => !found.has(term)),
  )
  const all: Found = new Map([...found, ...more])
  const widened = widen(weights, collected, {
    share,
    isFrequent: (term, most) => (all.get(term)?.frequency ?? Infinity) > most * library.passages,
  })
  const subject = scoreWords(library, widened, all)
  const subjectScore = (passage: number) => subject[passage] ?? 0
  // What answered best by the words of the question itself stays first.
  const [first] = byNearness
  const order = bestPassages(subject, limit, (passage) => passage !== first && isAllowed(passage))
  const askedWeight = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  return {
    order: first === undefined ? order : [first, ...order],
    // In the unit of the words' scores, so that scores of different questions stay comparable.
    scoreOf: (passage) =>
      passage === first ? near(first) : Math.min(near(first ?? passage), subjectScore(passage) * askedWeight),
    scoresOf: (passage) => ({ ...lexical(passage), subject: subjectScore(passage) * askedWeight }),
    matched,
  }
}

async function collectSubject(
  scope: Scope,
  library: Library,
  passages: readonly number[],
  scoreOf: (passage: number) => number,
): Promise<[term: string, weight: number][]> {
  const terms = await readSubjectTerms(scope, library, passages)
  return collectTerms(
    passages.flatMap((passage) => {
      const ofPassage = terms.get(passage)
      return ofPassage ? { score: scoreOf(passage), terms: ofPassage } : []
    }),
  )
}

/** Passages that were read for their subject, as their terms: a segment never changes, nor does what its passages say. */
const keptTerms = createKeptBytes<Uint8Array>(4_000_000)
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The terms of each passage in order, without stop words; none for one whose document is just being removed. */
async function readSubjectTerms(
  scope: Scope,
  library: Library,
  passages: readonly number[],
): Promise<Map<number, readonly string[]>> {
  const languages = library.languages.join(' ')
  const keyOf = (passage: number) => {
    const { identity, number } = locate(library, passage)
    return `${identity} ${number} ${languages}`
  }
  const terms = new Map<number, readonly string[]>()
  const missing: number[] = []
  for (const passage of passages) {
    const kept = keptTerms.get(keyOf(passage))
    if (kept) terms.set(passage, decoder.decode(kept).split(' '))
    else missing.push(passage)
  }
  const texts = (await readPassages(scope, library, missing)).map(({ number, language, found }) => ({
    number,
    language,
    words: wordsOf(found.text).filter((word) => /\p{L}/u.test(word) && !isStopWord(word, library.languages)),
  }))
  for (const [language, inIt] of Map.groupBy(texts, (text) => text.language)) {
    const words = inIt.flatMap((text) => text.words)
    const stems = await stemWords(scope, words, [language])
    for (const text of inIt) {
      const ofPassage = text.words.flatMap((word) => stems.get(word) ?? [])
      terms.set(text.number, ofPassage)
      if (ofPassage.length > 0) keptTerms.set(keyOf(text.number), encoder.encode(ofPassage.join(' ')))
    }
  }
  return terms
}

/** The first of those that say the same, up to the limit; neighbours count once where they are joined. */
function choose(read: readonly StoredPassage[], ranked: Ranked, { limit, joins }: { limit: number; joins: boolean }) {
  const seen = new Set<string>()
  const passages: FoundPassage[] = []
  const considered: ConsideredPassage[] = []
  for (const { number, found, pageText } of read) {
    const score = ranked.scoreOf(number)
    const words = found.text.replace(/\s+/g, ' ').toLowerCase()
    const neighbour = joins ? passages.findIndex((passage) => areNeighbours(passage, found, pageText)) : -1
    const isFull = passages.length === limit
    const cut = seen.has(words) ? 'copy' : neighbour >= 0 ? 'joined' : isFull ? 'rank' : null
    seen.add(words)
    if (cut === null) passages.push({ ...found, score })
    const joined = passages[neighbour]
    if (cut === 'joined' && joined) passages[neighbour] = join(joined, found, pageText)
    const { documentId, filename, mimetype, page, start, end } = found
    considered.push({ documentId, filename, mimetype, page, start, end, score, scores: ranked.scoresOf(number), cut })
  }
  return { passages, considered }
}

type Range = Pick<FoundPassage, 'documentId' | 'page' | 'start' | 'end'>

/** Whether nothing but blanks stands between them. A joined passage does not grow beyond what can be read at a glance. */
function areNeighbours(one: Range, other: Range, pageText: string): boolean {
  if (one.documentId !== other.documentId || one.page !== other.page) return false
  if (Math.max(one.end, other.end) - Math.min(one.start, other.start) > LONGEST_JOINED) return false
  const between = one.end <= other.start ? pageText.slice(one.end, other.start) : pageText.slice(other.end, one.start)
  return between.trim() === ''
}

function join(one: FoundPassage, other: Range, pageText: string): FoundPassage {
  const [start, end] = [Math.min(one.start, other.start), Math.max(one.end, other.end)]
  return { ...one, start, end, text: pageText.slice(start, end) }
}
