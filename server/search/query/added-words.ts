/** Synonyms, everyday or formal words and words of other languages for those of a question that the library lacks. */
import type { AddedWord } from '#contract/trace.ts'
import type { Scope } from '#server/database/scope.ts'
import { joinApart, joinPhrase, uniteAlternatives } from '#server/search/index/joined-terms.ts'
import type { LibraryIndex } from '#server/search/index/library-index.ts'
import { inText, joinForms, readTerms, type TermPostings } from '#server/search/index/posting-lookup.ts'
import { readVocabulary } from '#server/search/index/vocabulary.ts'
import { stemByLanguage } from '#server/search/text/stemmer.ts'
import { wordsOf } from '#server/search/text/tokenizer.ts'
import { type Script, scriptOf } from '#server/search/text/transliteration.ts'
import type { ExpandedQuestion } from './expansion.ts'
import { findInScripts, lengthsInScripts } from './names-in-scripts.ts'
import { type ParsedQuestion, termKey } from './parse-question.ts'
import { type Column, COLUMNS, isPairedColumn, STEMMERS, tellingWords } from './thesaurus/concepts.ts'
import { openJapaneseSynonyms } from './thesaurus/japanese-synonyms.ts'
import { findSpans, type QuestionSpan } from './thesaurus/question-spans.ts'
import { wordKey } from './thesaurus/word-key.ts'
import { relatedWords } from './thesaurus/wordnet.ts'
import { weighWord } from './word-weight.ts'

/** Weights of a word that is added, against 1 of the question's own. */
const WEIGHTS = { everyday: 0.6, synonym: 0.5, translation: 0.8, script: 1 } as const
/** A word in a larger share of the passages says what is meant well enough. */
const RARE_SHARE = 0.003
/** Allowed instead where the best passage fits the question badly. */
const RARE_SHARE_OF_WEAK = 0.02
const MIN_RARE_PASSAGES = 2
/** A word in a larger share of the passages would add passages about anything. */
const MAX_ADDED_SHARE = 0.05
const MIN_ADDED_PASSAGES = 20
/** A longer question is a pasted text, which has enough words. */
const MAX_QUESTION_CHARACTERS = 2_000
/** Languages of the library that write other letters than Latin ones, in words. */
const OTHER_SCRIPTS: ReadonlySet<string> = new Set(['russian', 'arabic', 'greek'])
/** Each costs a read in a large library. */
const MAX_ALTERNATIVES = 24

type Origin = AddedWord['origin']

interface Alternative {
  readonly text: string
  /** Undefined for a term as the library holds it. */
  readonly column: Column | undefined
  readonly weight: number
  readonly origin: Origin
}

export interface QuestionWithAddedWords extends ExpandedQuestion {
  readonly added: readonly AddedWord[]
}

/** Stems of added words by the words of a question, as the tokenizer yields those, each with its weight. */
export type AddedTerms = ReadonlyMap<string, ReadonlyMap<string, number>>

/** @param own the question's own words, expanded */
export async function addWords(
  scope: Scope,
  library: LibraryIndex,
  question: ParsedQuestion,
  own: ExpandedQuestion,
): Promise<QuestionWithAddedWords> {
  const found = await findAlternatives(scope, library, question, own, mostOfRare(library))
  const spans = tellingSpans(withoutOwnTerms(found, question), library)
  const weights = new Map(own.weights)
  const postings = new Map(own.postings)
  const added: AddedWord[] = []
  for (const { span, ofSpan, alternatives, mostPassages } of spans) {
    const weight = Math.max(...alternatives.map((each) => each.weight))
    const united = uniteAlternatives(
      library.lengths.length,
      alternatives.map((each) => ({ postings: each.postings, weight: each.weight / weight })),
      ofSpan,
    )
    // A concept of which one word is frequent is not rare in other words.
    const frequency = Math.max(united.frequency, mostPassages)
    const key = `${span.text} +`
    weights.set(key, weight * span.weight)
    postings.set(key, { ...united, frequency })
    if (ofSpan.frequency === 0) forgetCorrections(weights, own, span.words)
    for (const [origin, ofOrigin] of Map.groupBy(alternatives, (each) => each.origin))
      added.push({
        word: span.text,
        origin,
        words: [...new Set(ofOrigin.map(({ text }) => text))],
        weight: Math.max(...ofOrigin.map((each) => each.weight)) * span.weight,
      })
  }
  return { ...own, weights, postings, added }
}

/**
 * Terms by which sentences are found that say a question in other words: those for which passages are searched too, and all,
 * also for frequent words, and frequent words, since these tell sentences of one passage apart.
 */
export async function findAddedTerms(
  scope: Scope,
  library: LibraryIndex,
  question: ParsedQuestion,
  own: ExpandedQuestion,
): Promise<{ readonly searched: AddedTerms; readonly all: AddedTerms }> {
  const spans = await findAlternatives(scope, library, question, own, Infinity)
  const searched = spans.filter(({ ofSpan }) => ofSpan.frequency <= mostOfRare(library))
  return { searched: termsOf(tellingSpans(searched, library)), all: termsOf(spans) }
}

function termsOf(spans: readonly SpanAlternatives[]): AddedTerms {
  const terms = new Map<string, ReadonlyMap<string, number>>()
  for (const { span, alternatives } of spans) {
    const ofSpan = alternatives.flatMap((each) => each.terms.map((term) => [term, each.weight / each.length] as const))
    for (const word of span.words) terms.set(word, new Map([...(terms.get(word) ?? []), ...ofSpan]))
  }
  return terms
}

interface HeldAlternative extends Alternative {
  readonly terms: readonly string[]
  /** Words of the phrase. */
  readonly length: number
  readonly postings: TermPostings
}

interface SpanAlternatives {
  readonly span: QuestionSpan
  readonly ofSpan: TermPostings
  /** Those that the library holds, at least one. */
  readonly alternatives: readonly HeldAlternative[]
}

const mostOfRare = ({ passages }: LibraryIndex): number => Math.max(MIN_RARE_PASSAGES, RARE_SHARE_OF_WEAK * passages)

interface TellingSpan extends SpanAlternatives {
  /** Passages that hold the most frequent alternative, also where that is left out. */
  readonly mostPassages: number
}

/** Without other forms of the word itself ("develop", "development"), whose passages its own term scores already. */
const withoutOwnTerms = (spans: readonly SpanAlternatives[], { words }: ParsedQuestion): SpanAlternatives[] =>
  spans.flatMap((each) => {
    const [word = '', ...others] = each.span.words
    const own = new Set(others.length === 0 ? words.get(word) : [])
    const alternatives = each.alternatives.filter(({ terms }) => terms.some((term) => !own.has(term)))
    return alternatives.length === 0 ? [] : [{ ...each, alternatives }]
  })

/** Without alternatives that are too frequent to tell passages apart. */
const tellingSpans = (spans: readonly SpanAlternatives[], { passages }: LibraryIndex): TellingSpan[] =>
  spans.flatMap((each) => {
    const most = Math.max(MIN_ADDED_PASSAGES, MAX_ADDED_SHARE * passages)
    const alternatives = each.alternatives.filter(({ postings }) => postings.frequency <= most)
    const mostPassages = Math.max(...each.alternatives.map(({ postings }) => postings.frequency))
    return alternatives.length === 0 ? [] : [{ ...each, alternatives, mostPassages }]
  })

/** @param rarest most passages that hold a span to which words are added */
async function findAlternatives(
  scope: Scope,
  library: LibraryIndex,
  question: ParsedQuestion,
  own: ExpandedQuestion,
  rarest: number,
): Promise<SpanAlternatives[]> {
  if (library.passages === 0 || question.text.length > MAX_QUESTION_CHARACTERS) return []
  const spans = (await findSpans(scope, question.text, library.languages)).flatMap((span) => {
    const ofSpan = postingsOf(span, library, question, own)
    return ofSpan && ofSpan.frequency <= rarest ? [{ span, ofSpan }] : []
  })
  const columns = COLUMNS.filter((column) => isHeld(column, library.languages))
  const inScripts = await findNamesInScripts(scope, library, question.text, spans)
  const described = await Promise.all(
    spans.map(async ({ span, ofSpan }) => {
      const isRare = ofSpan.frequency <= Math.max(MIN_RARE_PASSAGES, RARE_SHARE * library.passages)
      const alternatives = [...(inScripts.get(span) ?? []), ...(await alternativesOf(span, columns, isRare))]
      return { span, ofSpan, alternatives: alternatives.slice(0, MAX_ALTERNATIVES) }
    }),
  )
  const read = await readAlternatives(
    scope,
    library,
    described.flatMap(({ alternatives }) => alternatives),
  )
  return described.flatMap((each) => {
    const alternatives = each.alternatives.flatMap((alternative) => {
      const held = read.get(alternative)
      return held && held.postings.frequency > 0 ? [held] : []
    })
    return alternatives.length === 0 ? [] : [{ ...each, alternatives }]
  })
}

/** A word that has synonyms here is not misspelt. */
function forgetCorrections(
  weights: Map<string, number>,
  { guessed }: ExpandedQuestion,
  words: readonly string[],
): void {
  for (const { word, corrections } of guessed)
    if (words.includes(word)) for (const term of corrections) weights.delete(term)
}

function isHeld(column: Column, languages: readonly string[]): boolean {
  const stemmers: readonly string[] = STEMMERS[column]
  return isPairedColumn(column) ? languages.includes('simple') : stemmers.some((each) => languages.includes(each))
}

/** Postings of the words as the question has them; undefined if the search leaves all of them out. */
function postingsOf(
  span: QuestionSpan,
  library: LibraryIndex,
  { words }: ParsedQuestion,
  { postings }: ExpandedQuestion,
): TermPostings | undefined {
  const keys = span.words.flatMap((word) => (words.has(word) ? [termKey(words.get(word) ?? [])] : []))
  if (keys.length === 0) return undefined
  const held = keys.flatMap((key) => postings.get(key) ?? [])
  return joinPhrase(library.lengths.length, held.length < keys.length ? [] : held)
}

async function alternativesOf(span: QuestionSpan, columns: readonly Column[], isRare: boolean): Promise<Alternative[]> {
  const found = span.concepts.flatMap((concept) =>
    [...concept].flatMap(([column, entries]) =>
      column === span.column || columns.includes(column)
        ? entries.map((text): Alternative => {
            const origin = column === span.column ? 'everyday' : 'translation'
            return { text, column, weight: WEIGHTS[origin], origin }
          })
        : [],
    ),
  )
  if (isRare && span.column === 'ja') {
    for (const text of (await openJapaneseSynonyms()).synonymsOf(span.text)) {
      const column = /^[a-z .'-]+$/i.test(text) ? 'en' : 'ja'
      const origin = column === 'en' ? 'translation' : 'synonym'
      if (columns.includes(column)) found.push({ text, column, weight: WEIGHTS[origin], origin })
    }
  }
  const own = wordKey(span.text)
  const others = found.filter(({ text }) => wordKey(text) !== own)
  if (isRare && span.column === 'en' && !others.some(({ column }) => column === 'en')) {
    for (const { text, weight } of await relatedWords(span.text))
      others.push({ text, column: 'en', weight: WEIGHTS.synonym * weight, origin: 'synonym' })
  }
  return others
}

/** Each is compared with the words of the library. */
const MAX_NAMES = 8

/** Words in lower case that have a capital letter and do not begin a sentence of several words; every noun has one in German. */
function capitalisedIn(question: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const sentence of question.split(/[.!?…]\s+/)) {
    const words = sentence.match(/[\p{L}\p{M}]+/gu) ?? []
    for (const word of words.length > 2 ? words.slice(1) : words)
      if (/^\p{Lu}/u.test(word)) names.add(word.toLowerCase())
  }
  return names
}

/** Scripts with capital letters. */
const CASED: ReadonlySet<Script> = new Set<Script>(['latin', 'cyrillic', 'greek'])

/**
 * Words that the library lacks, as its other scripts write them: names, and words that languages share. A word that the
 * concepts know is a name if it has a capital letter, and so is any word of a language in which there are documents.
 */
async function findNamesInScripts(
  scope: Scope,
  library: LibraryIndex,
  question: string,
  spans: readonly { readonly span: QuestionSpan; readonly ofSpan: TermPostings }[],
): Promise<Map<QuestionSpan, Alternative[]>> {
  const hasOthers = library.languages.some((language) => OTHER_SCRIPTS.has(language))
  const capitalised = capitalisedIn(question)
  const names = spans.flatMap(({ span, ofSpan }) => {
    const script = scriptOf(span.text)
    if (script === undefined || ofSpan.frequency > 0) return []
    // The characters of a Japanese word have other sounds than in Chinese.
    if (script === 'han' && span.column !== 'zh') return []
    if (script === 'latin' && !hasOthers) return []
    const hasCapital = span.column !== 'de' && capitalised.has(span.text)
    if (span.concepts.length > 0 && !hasCapital) return []
    const isOrdinary = CASED.has(script) && isHeld(span.column, library.languages) && !hasCapital
    return isOrdinary ? [] : [span]
  })
  if (names.length === 0) return new Map()
  const searched = names.slice(0, MAX_NAMES)
  const lengths = [...new Set(searched.flatMap(({ text }) => lengthsInScripts(text)))]
  const vocabulary = await readVocabulary(scope, library, lengths)
  return new Map(
    searched.map((span) => [
      span,
      findInScripts(span.text, vocabulary).map(({ term, similarity }): Alternative => {
        return { text: term, column: undefined, weight: WEIGHTS.script * similarity, origin: 'script' }
      }),
    ]),
  )
}

/** Postings of each alternative: passages that hold all of its words, those of a phrase near each other. */
async function readAlternatives(
  scope: Scope,
  library: LibraryIndex,
  alternatives: readonly Alternative[],
): Promise<Map<Alternative, HeldAlternative>> {
  const terms = new Map<Alternative, { readonly terms: readonly string[]; readonly language: string | undefined }[]>()
  for (const [column, ofColumn] of Map.groupBy(alternatives, (each) => each.column)) {
    if (column === undefined) {
      for (const each of ofColumn) terms.set(each, [{ terms: [each.text], language: undefined }])
      continue
    }
    const languages = STEMMERS[column].filter((language) => library.languages.includes(language))
    if (isPairedColumn(column)) {
      for (const each of ofColumn) terms.set(each, [{ terms: pairsOf(each.text), language: undefined }])
      continue
    }
    const words = new Map(ofColumn.map((each) => [each, tellingWords(each.text, languages[0] ?? '')]))
    const stems = await stemByLanguage(scope, [...words.values()].flat(), languages)
    for (const [each, ofText] of words)
      terms.set(
        each,
        languages.map((language) => ({
          terms: ofText.map((word) => stems.get(word)?.get(language) ?? word),
          language,
        })),
      )
  }
  const read = await readTerms(
    scope,
    library,
    new Set([...terms.values()].flatMap((forms) => forms.flatMap((form) => form.terms))),
  )
  const isMixed = library.languages.length > 1
  return new Map(
    [...terms].map(([alternative, forms]) => [
      alternative,
      {
        ...alternative,
        terms: forms.flatMap((form) => form.terms),
        length: Math.max(1, ...forms.map((form) => form.terms.length)),
        postings: joinApart(
          forms.flatMap((form) => {
            const held = form.terms.flatMap((term) => read.get(term) ?? [])
            if (held.length < form.terms.length) return []
            const { language } = form
            const ofLanguage =
              language !== undefined && isMixed
                ? held.map((postings) => joinForms([{ postings, languages: [language] }]))
                : held
            const [word, ...others] = ofLanguage
            return [word && others.length === 0 ? inText(word) : joinPhrase(library.lengths.length, ofLanguage)]
          }),
        ),
      },
    ]),
  )
}

/** Endings in hiragana differ between a question and its answer. */
function pairsOf(text: string): string[] {
  const words = wordsOf(text)
  const telling = words.filter((word) => word.length > 1 && weighWord(word) === 1)
  return telling.length > 0 ? telling : words
}
