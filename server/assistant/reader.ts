/**
 * Alcove Reader, the built-in model: it writes nothing of its own, but quotes the sentences of the person's documents
 * that answer best, each with its source. Works without any network.
 */
import { type Source } from '#contract/source.ts'
import { type Scope } from '#server/database/scope.ts'
import { termsOfQuestion } from '#server/documents/question.ts'
import { stemWords } from '#server/documents/stem.ts'
import { wordsOf } from '#server/documents/tokenizer.ts'
import { type ChatPart } from '#server/providers/chat.ts'

interface Sentence {
  readonly source: Source
  /** Offsets in the page's text. */
  readonly start: number
  readonly end: number
  readonly pageText: string
  readonly words: readonly string[]
}

/** A question and the sentences at hand, with everything that choosing quotes needs to know about their words. */
export interface Reading {
  readonly questionTerms: readonly string[]
  /** In reading order, passage by passage, the best passage first. */
  readonly sentences: readonly Sentence[]
  /** The terms of each word, as the search makes them. */
  readonly stems: ReadonlyMap<string, readonly string[]>
}

const MAX_QUOTES = 3
/** A quote of fewer characters takes the next sentence along, which often holds the answer to what the first one names. */
const SHORT_QUOTE = 120
const LONGEST_SENTENCE = 600
/** A passage that scores below this share of the best one adds noise rather than an answer. */
const LEAST_SCORE_SHARE = 0.55
/** Below this share of the question's terms, the best passage is about something else. */
const LEAST_COVERAGE = 0.34
/** Further quotes score at least this share of the first, or they answer something else. */
const LEAST_QUOTE_SHARE = 0.6

/** Full stops that end no sentence: initials and the commonest abbreviations of the languages we stem. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|vs|cf|al|etc|e\.g|i\.e|nos?|figs?|eqs?|secs?|chap|vol|pp|art|approx|dr|mr|mrs|ms|prof|st|inc|ltd|corp|jr|sr|bzw|z\.\s?b|u\.\s?a|d\.\s?h|nr|abs|ca|ggf|p\.\s?ex|sr|sra|núm|pág|av|руб|т\.\s?е|стр)\.\s*$/iu

/** Ranges of the sentences in a text. A line break inside a paragraph is where the page's line ended, not the sentence. */
export function splitSentences(text: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = []
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })
  for (const paragraph of text.matchAll(/(?:[^\n]|\n(?!\s*\n))+/g)) {
    const joined = paragraph[0].replaceAll('\n', ' ')
    let open: { start: number; end: number } | undefined
    for (const { segment, index } of segmenter.segment(joined)) {
      const start = paragraph.index + index
      const goesOn =
        open !== undefined &&
        (ABBREVIATION.test(text.slice(open.start, open.end)) || /^\p{Ll}/u.test(segment)) &&
        start + segment.length - open.start <= LONGEST_SENTENCE
      if (open && goesOn) open.end = start + segment.length
      else ranges.push((open = { start, end: start + segment.length }))
    }
  }
  return ranges
    .flatMap((range) => splitLong(text, range))
    .map((range) => trim(text, range))
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)))
}

/** Tables and lists have no full stops; what is longer than any sentence is cut, but never inside a surrogate pair. */
function splitLong(text: string, { start, end }: { start: number; end: number }) {
  const pieces = []
  for (let from = start; from < end;) {
    let to = Math.min(end, from + LONGEST_SENTENCE)
    if (to < end && /[\ud800-\udbff]/.test(text[to - 1] ?? '')) to -= 1
    pieces.push({ start: from, end: to })
    from = to
  }
  return pieces
}

function trim(text: string, { start, end }: { start: number; end: number }) {
  const slice = text.slice(start, end)
  return { start: start + slice.length - slice.trimStart().length, end: end - (slice.length - slice.trimEnd().length) }
}

/** Sentences of a page that a passage touches, each whole even where the passage was cut inside it. */
function sentencesOf(source: Source, pageText: string): Sentence[] {
  return splitSentences(pageText)
    .filter(({ start, end }) => start < source.end && source.start < end)
    .map(({ start, end }) => ({ source, start, end, pageText, words: wordsOf(pageText.slice(start, end)) }))
}

/** Prepares passages and their words with the stemmers of the person's library. Run as the person. */
export async function prepareReading(scope: Scope, question: string, sources: readonly Source[]): Promise<Reading> {
  const pages = await scope.query<{ document_id: string; page: number; text: string }>(
    `select document_id, page, text from document_pages
     join unnest($1::uuid[], $2::integer[]) as wanted (document_id, page) using (document_id, page)`,
    [sources.map(({ documentId }) => documentId), sources.map(({ page }) => page)],
  )
  const textOf = new Map(pages.rows.map(({ document_id, page, text }) => [`${document_id} ${page}`, text]))
  const sentences = sources.flatMap((source) =>
    sentencesOf(source, textOf.get(`${source.documentId} ${source.page}`) ?? ''),
  )
  return readSentences(scope, question, sentences)
}

/** Prepares a text that is no document, as if it were the only page of one with this name. Run as the person. */
export function prepareTextReading(scope: Scope, question: string, name: string, text: string): Promise<Reading> {
  const source = { n: 1, documentId: '', filename: name, page: 1, start: 0, end: text.length, text, score: 1 }
  return readSentences(scope, question, sentencesOf(source, text))
}

async function readSentences(scope: Scope, question: string, sentences: readonly Sentence[]): Promise<Reading> {
  const { terms } = await termsOfQuestion(scope, question)
  const totals = await scope.query<{ languages: string[] }>('select languages from search_stats')
  const words = new Set(sentences.flatMap((sentence) => sentence.words))
  return { questionTerms: terms, sentences, stems: await stemWords(scope, words, totals.rows[0]?.languages ?? []) }
}

/** Rare terms tell more: inverse document frequency over the sentences at hand (Robertson and Spärck Jones). */
function weigh(terms: readonly string[], sentences: readonly ReadonlySet<string>[]): Map<string, number> {
  return new Map(
    terms.map((term) => {
      const frequency = sentences.filter((sentence) => sentence.has(term)).length
      return [term, Math.log(1 + (sentences.length - frequency + 0.5) / (frequency + 0.5))]
    }),
  )
}

/** Picks the sentences that answer, best first, as sources that hold exactly what is quoted. */
export function chooseQuotes({ questionTerms, sentences, stems }: Reading): Source[] {
  const bestScore = sentences[0]?.source.score ?? 0
  const asked = new Set(questionTerms)
  const all = sentences.map((sentence) => ({
    ...sentence,
    terms: new Set(sentence.words.flatMap((word) => stems.get(word) ?? [])),
  }))
  const covered = new Map<Source, Set<string>>()
  for (const { source, terms } of all)
    covered.set(source, (covered.get(source) ?? new Set<string>()).union(asked.intersection(terms)))
  const coverage = Math.max(0, ...[...covered.values()].map(({ size }) => size))
  if (coverage === 0 || coverage < LEAST_COVERAGE * asked.size) return []

  const weights = weigh(questionTerms, all.map(({ terms }) => terms)) // prettier-ignore
  const ranked = all
    .map((sentence, index) => {
      const matched = questionTerms.reduce(
        (sum, term) => sum + (sentence.terms.has(term) ? (weights.get(term) ?? 0) : 0),
        0,
      )
      return {
        ...sentence,
        following: all[index + 1],
        score: matched * (0.5 + (0.5 * sentence.source.score) / bestScore),
      }
    })
    .filter(({ source, score }) => score > 0 && source.score >= bestScore * LEAST_SCORE_SHARE)
    .sort((one, other) => other.score - one.score)
  const chosen: Source[] = []
  for (const { source, start, end, pageText, following, score } of ranked) {
    if (chosen.length === MAX_QUOTES || score < (ranked[0]?.score ?? 0) * LEAST_QUOTE_SHARE) break
    const takesNext = end - start < SHORT_QUOTE && following?.source === source && following.start - end < 3
    const quoteEnd = takesNext ? following.end : end
    const overlaps = chosen.some(
      (other) =>
        other.documentId === source.documentId &&
        other.page === source.page &&
        start < other.end &&
        other.start < quoteEnd,
    )
    if (overlaps) continue
    chosen.push({ ...source, n: chosen.length + 1, start, end: quoteEnd, text: pageText.slice(start, quoteEnd) })
  }
  return chosen
}

/** How the material begins, for a question that names a document and nothing that it is asked. */
export function openingQuotes({ sentences }: Reading): Source[] {
  return sentences.slice(0, MAX_QUOTES).map(({ source, start, end, pageText }, index) => ({
    ...source,
    n: index + 1,
    start,
    end,
    text: pageText.slice(start, end),
  }))
}

const NOTHING = 'Your documents hold nothing that answers this.'

/** Says whose words these are, and why there are no others. */
function describeWords(hasModels: boolean, ofWhat: 'your documents' | 'what was found'): string {
  if (hasModels) return `*The Reader only quotes: these are the words of ${ofWhat}.*`
  return `*No language model is configured, so these are the words of ${ofWhat}, not an answer of my own.*`
}

/** What a page's line breaks did to the words: a hyphen at the end of a line joins, any other break is a blank. */
const unwrap = (text: string) =>
  text
    .replace(/(\p{L})[-\u00ad]\s*\n\s*(?=\p{Ll})/gu, '$1')
    .replace(/-\s*\n\s*/g, '-')
    .replace(/\s+/g, ' ')

/** Somebody else's words as they are: none of their signs is Markdown. */
export const asPlainMarkdown = (text: string) => unwrap(text).replace(/([\\`*_[\]<>#|~])/g, '\\$1')

const renderQuote = ({ text, n }: Source) => `> ${asPlainMarkdown(text)} [${n}]`

/** What the person should know about documents that cannot be searched yet. */
export function describeUnread(count: number): string {
  if (count === 0) return ''
  return count === 1 ? 'One of your documents is still being read.' : `${count} of your documents are still being read.`
}

export interface Written {
  readonly quotes: readonly Source[]
  readonly unreadDocuments: number
  /** What tools brought back, in Markdown; null where no tool looked outside the documents. */
  readonly sections: readonly string[] | null
  /** Whether a language model could have been chosen instead. */
  readonly hasModels: boolean
}

/** Answers with quotes alone, or says that the documents hold nothing. */
export async function* writeReading({
  quotes,
  unreadDocuments,
  sections,
  hasModels,
}: Written): AsyncGenerator<ChatPart> {
  const unread = describeUnread(unreadDocuments)
  const paragraphs = [...quotes.map(renderQuote), ...(sections ?? [])]
  if (paragraphs.length === 0) yield { type: 'text', text: NOTHING }
  for (const [index, paragraph] of paragraphs.entries()) {
    yield { type: 'text', text: `${index > 0 ? '\n\n' : ''}${paragraph}` }
  }
  if (sections !== null) yield { type: 'text', text: `\n\n${describeWords(hasModels, 'what was found')}` }
  else if (quotes.length > 0) yield { type: 'text', text: `\n\n${describeWords(hasModels, 'your documents')}` }
  if (unread !== '') yield { type: 'text', text: `\n\n*${unread} Ask again when that is done.*` }
  yield { type: 'finish', tokensIn: null, tokensOut: null }
}
