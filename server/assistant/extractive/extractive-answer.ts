/** Alcove Reader, the built-in model: quotes the best sentences with their sources, and works without a network. */
import { isMessageSource, isPassageSource } from '#contract/source.ts'
import type { ChatPart } from '#server/providers/chat.ts'
import { NO_LANGUAGE } from '#server/search/text/detect-language.ts'
import { joinLines } from './join-lines.ts'
import { FOREIGN_REASON } from './judge-answer.ts'
import { findLists, withoutBullet } from './lists.ts'
import { containerIdOf, type QuotableSource } from './quotable.ts'
import { joinFilledCells, renderTable } from './quoted-rows.ts'

const NOTHING_FOUND = 'I found nothing in your documents that answers this.'
const NEAREST_PASSAGES = 'Nothing answers this; the nearest passages are:'
const NO_DOCUMENTS = 'You have no documents yet. Add one, and ask again: I answer by quoting what you have.'
const DOCUMENT_UNNAMED = 'This asks about a whole document. Name the one that you mean, and ask again.'

function describeQuotes(hasModels: boolean, these: string, insteadOf = 'an answer'): string {
  if (hasModels) return `*The Reader only quotes: these are ${these}.*`
  return `*No language model is configured, so these are ${these}, not ${insteadOf} of my own.*`
}

/** Addresses without the punctuation of the surrounding sentence, and without pipes, which would end a table cell. */
const ADDRESS =
  /((?:https?:\/\/|(?<![\p{L}\p{N}.@/])www\.)[^\s<>"\\|]*[^\s<>"\\|\p{Pe}\p{Pf}.,:;!?'*~。，、](?:(?<=\([^\s()]*)\))?|[\p{L}\p{N}._%+~-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+)/iu

const escapeSigns = (text: string) => text.replace(/([\\`*_[\]<>#|~])/g, '\\$1')

/** Escapes in a bare address would become part of its link. */
const asLink = (address: string) =>
  /^www\./i.test(address) ? `[${escapeSigns(address)}](<http://${address}>)` : `<${address}>`

/** Shows quoted text literally: nothing in it is Markdown, and an address links exactly to itself. */
export const asPlainMarkdown = (text: string) =>
  joinLines(text)
    .split(ADDRESS)
    .map((part, index) => (index % 2 === 1 ? asLink(part) : escapeSigns(part)))
    .join('')
    .replace(/^(?=[-+]\s)/, '\\')
    .replace(/^(\d+)(?=[.)]\s)/, '$1\\')

function describeOrigin(quotes: readonly QuotableSource[]): string {
  if (!quotes.some(isMessageSource)) return 'your documents'
  return quotes.some(isPassageSource) ? 'your documents and conversations' : 'your conversations'
}

const renderSentence = (text: string, marker: string): string => `> ${asPlainMarkdown(joinFilledCells(text))} ${marker}`

/** A quoted list, item by item below what introduces it. Undefined if the text is none. */
function renderList(text: string, marker: string): string | undefined {
  const [list] = findLists(text)
  if (!list || text.slice(list.end).trim() !== '') return undefined
  const introduction = text.slice(0, list.start).trim()
  const items = list.items.map(({ start, end }) => `> - ${asPlainMarkdown(withoutBullet(text.slice(start, end)))}`)
  if (introduction === '') return [...items, '>', `> ${marker}`].join('\n')
  return [renderSentence(introduction, marker), '>', ...items].join('\n')
}

/** Rows with equal titles become one table, since cells mean nothing without titles. */
function renderQuotes(quotes: readonly QuotableSource[]): string[] {
  const titlesOf = (quote: QuotableSource) => (isPassageSource(quote) && quote.titles) || quote.n
  return [...Map.groupBy(quotes, titlesOf)].flatMap(([titles, members]) => {
    const rows = members.map(({ text, n }) => ({ text, marker: `[${n}]` }))
    const table = typeof titles === 'string' ? renderTable(titles, rows, asPlainMarkdown) : undefined
    return table ?? rows.map(({ text, marker }) => renderList(text, marker) ?? renderSentence(text, marker))
  })
}

/** Quotations for the parts of a question, below the name of each document where there are several. */
function renderByDocument(quotes: readonly QuotableSource[]): string[] {
  const documents = [...Map.groupBy(quotes, containerIdOf).values()]
  if (documents.length < 2) return renderQuotes(quotes)
  return documents.flatMap((ofDocument) => {
    const [first] = ofDocument
    const name = first && isPassageSource(first) ? [`**${asPlainMarkdown(first.filename)}**`] : []
    return [...name, ...renderQuotes(ofDocument)]
  })
}

interface Refusal {
  /** The reason why nothing answers, as the end of a sentence. */
  readonly reason: string | undefined
  /** Stemming languages of the library, by their English names. */
  readonly languages: readonly string[]
}

export interface ExtractiveAnswerInput {
  readonly quotes: readonly QuotableSource[]
  /** The quotations are only the nearest passages. */
  readonly refusal: Refusal | undefined
  readonly isEmptyLibrary: boolean
  readonly missingDocumentNotes: readonly string[]
  readonly isDocumentUnnamed: boolean
  readonly isSummary: boolean
  /** Whether the question asks for several things, as a comparison does. */
  readonly hasParts: boolean
  readonly sections: readonly { readonly text: string; readonly isFound: boolean }[]
  readonly hasModels: boolean
}

/** Names of languages, such as "German"; passages without a stemmer have none. */
function describeLanguages(languages: readonly string[]): string | undefined {
  const names = languages
    .filter((name) => name !== NO_LANGUAGE)
    .map((name) => name.replace(/^./, (first) => first.toUpperCase()))
  return names.length === 0 ? undefined : new Intl.ListFormat('en').format(names)
}

function* writeParagraphs(paragraphs: readonly string[]): Generator<ChatPart, void> {
  for (const [index, paragraph] of paragraphs.entries())
    yield { type: 'text', text: `${index > 0 ? '\n\n' : ''}${paragraph}` }
}

/** The nearest passages stand apart, below a rule, and nothing presents them as an answer. */
function* writeRefusal(
  { quotes, missingDocumentNotes }: ExtractiveAnswerInput,
  { reason, languages }: Refusal,
  nothing: string,
): Generator<ChatPart, void> {
  const inLanguages = describeLanguages(languages)
  const bridge =
    reason === FOREIGN_REASON && inLanguages !== undefined
      ? `Your documents are in ${inLanguages}. A language model would find in them what is asked in another language.`
      : undefined
  const nearest = quotes.length > 0 ? [NEAREST_PASSAGES, '---', ...renderQuotes(quotes)] : [nothing]
  const why =
    quotes.length > 0 && reason !== undefined && !bridge ? `*Why not: ${asPlainMarkdown(reason)}.*` : undefined
  yield* writeParagraphs([...missingDocumentNotes.map(asPlainMarkdown), ...nearest, bridge ?? why ?? []].flat())
  yield { type: 'finish', tokensIn: null, tokensOut: null }
}

export function* writeExtractiveAnswer(written: ExtractiveAnswerInput): Generator<ChatPart, void> {
  const { quotes, refusal, isEmptyLibrary, missingDocumentNotes, isDocumentUnnamed, isSummary, sections, hasModels } =
    written
  const found = [
    ...(written.hasParts ? renderByDocument(quotes) : renderQuotes(quotes)),
    ...sections.map(({ text }) => text),
  ]
  const nothing = isEmptyLibrary ? NO_DOCUMENTS : isDocumentUnnamed ? DOCUMENT_UNNAMED : NOTHING_FOUND
  if (refusal && sections.length === 0 && !isDocumentUnnamed) {
    yield* writeRefusal(written, refusal, nothing)
    return
  }
  const paragraphs = [...missingDocumentNotes.map(asPlainMarkdown), ...(found.length > 0 ? found : [nothing])]
  yield* writeParagraphs(paragraphs)
  const whose = describeOrigin(quotes)
  const words = sections.some(({ isFound }) => isFound)
    ? describeQuotes(hasModels, 'the words of what was found')
    : isSummary
      ? describeQuotes(hasModels, `parts of ${whose}`, 'a summary')
      : describeQuotes(hasModels, `the words of ${whose}`)
  if (quotes.length > 0 || sections.some(({ isFound }) => isFound)) yield { type: 'text', text: `\n\n${words}` }
  yield { type: 'finish', tokensIn: null, tokensOut: null }
}
