/** Answers about the library as Markdown: exact numbers, names with markers that open the documents. Pure. */
import { nameWithFolder } from '#contract/document.ts'
import { fileTypeOf, FILE_TYPES, type FileType } from '#contract/file-types.ts'
import { formatSize } from '#contract/format-size.ts'
import type { DocumentFacts, TypeCounts } from '#server/documents/store/document-facts.ts'
import { languageName } from './document-languages.ts'
import { type LibraryAnswer, type ListedDocument, MAX_SAMPLED_DOCUMENTS } from './find-library-answer.ts'
import type { LibraryOrder } from './library-words.ts'
import type { LibraryFilter } from './parse-library-question.ts'

const number = (count: number): string => count.toLocaleString('en')
const counted = (count: number, one: string, many = `${one}s`): string => `${number(count)} ${count === 1 ? one : many}`
const documents = (count: number): string => counted(count, 'document')
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

/** Nothing in a name is Markdown. An underscore inside a word is none anyway, and names are full of them. */
const escapeName = (name: string): string =>
  name.replace(/([\\`*[\]<>#|~])/g, '\\$1').replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'long', year: 'numeric' }
const formatDay = (date: Date, timeZone?: string): string => date.toLocaleDateString('en-GB', { ...DAY, timeZone })

const partName = ({ unit }: Pick<FileType, 'unit'>, count: number): string =>
  `${unit ?? 'page'}${count === 1 ? '' : 's'}`
const typeOf = (mimetype: string): FileType | undefined => fileTypeOf(mimetype)
const labelOf = (mimetype: string): string => typeOf(mimetype)?.label ?? 'File'

/** "36 PDF, 10 Excel" */
function describeTypes(types: readonly TypeCounts[]): string {
  const byLabel = Map.groupBy(types, ({ mimetype }) => labelOf(mimetype))
  return [...byLabel]
    .map(([label, members]) => ({ label, count: sum(members.map((each) => each.documents)) }))
    .toSorted((one, other) => other.count - one.count)
    .map(({ label, count }) => `${number(count)} ${label}`)
    .join(', ')
}

/** How many documents there are, of what types, and how many of them can be searched. */
export function describeTotals(types: readonly TypeCounts[]): string {
  const total = sum(types.map((each) => each.documents))
  if (total === 0) return 'You have no documents yet.'
  const [ready, failed] = [sum(types.map((each) => each.ready)), sum(types.map((each) => each.failed))]
  const unread = total - ready - failed
  const states = [
    `${number(ready)} can be searched`,
    ...(unread > 0 ? [`${number(unread)} ${unread === 1 ? 'is' : 'are'} not read yet`] : []),
    ...(failed > 0 ? [`${number(failed)} could not be read`] : []),
  ]
  return `You have ${documents(total)}: ${states.join(', ')}. By type: ${describeTypes(types)}.`
}

function describeType(extensions: readonly string[]): string {
  const rows = FILE_TYPES.filter((type) => type.extensions.some((each) => extensions.includes(each)))
  const [label = 'File', ...others] = new Set(rows.map((type) => type.label))
  const ofLabel = FILE_TYPES.filter((type) => type.label === label).length
  return others.length === 0 && rows.length === ofLabel
    ? label === 'Image'
      ? 'images'
      : `${label} files`
    : `${extensions.map((extension) => `.${extension}`).join(' and ')} files`
}

function describeAdded({ from, to }: NonNullable<LibraryFilter['added']>): string {
  const last = new Date(to.getFullYear(), to.getMonth(), to.getDate() - 1)
  return from.getTime() === last.getTime()
    ? `added on ${formatDay(from)}`
    : `added from ${formatDay(from)} to ${formatDay(last)}`
}

/** Properties that the matching documents have in common: "Excel files in German, added on 3 May 2026". */
function describeFilter(filter: LibraryFilter): string {
  const { extensions, state, language, added, isScanned, name, subject } = filter
  const parts = [
    ...(extensions ? [describeType(extensions)] : []),
    ...(isScanned ? ['read by text recognition'] : []),
    ...(language === undefined ? [] : [`in ${languageName(language)}`]),
    ...(state === 'failed' ? ['could not be read'] : state === 'unread' ? ['not read yet'] : []),
    ...(added ? [describeAdded(added)] : []),
    ...(name === undefined ? [] : [`named “${escapeName(name)}”`]),
    ...(subject === undefined ? [] : [`with passages about “${escapeName(subject)}”`]),
  ]
  const text = parts.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const ORDER_TITLES: Readonly<Record<LibraryOrder, string>> = {
  newest: 'Newest',
  oldest: 'Oldest',
  largest: 'Largest',
  smallest: 'Smallest',
  longest: 'Most pages',
  shortest: 'Fewest pages',
}

const describePages = ({ mimetype, pages }: DocumentFacts): string =>
  pages === null ? 'not counted yet' : `${number(pages)} ${partName(typeOf(mimetype) ?? { unit: 'page' }, pages)}`

type Detail = (document: DocumentFacts) => string | undefined

function detailOf({ question: { asks, order, filter }, timeZone }: LibraryAnswer): Detail {
  if (asks === 'pages' || order === 'longest' || order === 'shortest') return describePages
  if (asks === 'size' || order === 'largest' || order === 'smallest') return ({ size }) => formatSize(size)
  if (asks === 'added' || order === 'newest' || order === 'oldest' || filter.added)
    return ({ uploadedAt }) => `added on ${formatDay(uploadedAt, timeZone)}`
  return () => undefined
}

/** Why a document is not searched. */
function reasonOf({ state, error }: DocumentFacts): string | undefined {
  if (state === 'ready') return undefined
  if (state === 'failed') return error?.message ?? 'This file could not be read.'
  return state === 'paused' ? 'Its reading is paused.' : 'Not read yet.'
}

function describeDocument(document: ListedDocument, detail: Detail, marker: string): string {
  const [more, reason] = [detail(document), reasonOf(document)]
  return `${escapeName(nameWithFolder(document))}${more === undefined ? '' : `, ${more}`}${reason === undefined ? '' : `: ${reason}`} ${marker}`
}

/** Parts of the documents that were read: "3,012 pages in 34 PDF files, 41 sheets in 9 Excel files". */
function describeAllPages(types: readonly TypeCounts[]): string {
  const read = types.filter(({ ready }) => ready > 0)
  const byLabel = [...Map.groupBy(read, ({ mimetype }) => labelOf(mimetype))].map(([label, members]) => {
    const [pages, files] = [sum(members.map((each) => each.pages)), sum(members.map((each) => each.ready))]
    const unit = typeOf(members[0]?.mimetype ?? '') ?? { unit: 'page' as const }
    return {
      pages,
      unit: unit.unit ?? 'page',
      text: `${number(pages)} ${partName(unit, pages)} in ${number(files)} ${label} ${files === 1 ? 'file' : 'files'}`,
    }
  })
  const total = sum(byLabel.map(({ pages }) => pages))
  const units = [...new Set(byLabel.map(({ unit }) => `${unit}s`))]
  const inAll =
    byLabel.length > 1 ? `${number(total)} ${units.join(', ').replace(/, (?=[^,]*$)/, ' and ')} in all: ` : ''
  return byLabel.length === 0
    ? 'No document has been read yet.'
    : `${inAll}${byLabel.map(({ text }) => text).join(', ')}.`
}

const describeSizes = (types: readonly TypeCounts[]): string =>
  `Your ${documents(sum(types.map((each) => each.documents)))} take ${formatSize(sum(types.map(({ bytes }) => bytes)))}.`

/** @param numbers of the sources that open the listed documents, in their order; by default from 1 */
export function describeLibraryAnswer(answer: LibraryAnswer, numbers: readonly number[] = []): string {
  const { question, types, matchingTypes, count, listed } = answer
  const { asks, order, filter } = question
  const total = sum(types.map((each) => each.documents))
  const isWholeLibrary = Object.keys(filter).length === 0
  if (total === 0) return describeTotals(types)
  if (asks === 'size' && isWholeLibrary && order === undefined) return describeSizes(types)
  const detail = detailOf(answer)
  const lines = listed.map((document, index) => describeDocument(document, detail, `[${numbers[index] ?? index + 1}]`))
  const common = describeFilter(filter)
  const title = order === undefined ? common : [ORDER_TITLES[order], ...(isWholeLibrary ? [] : [common])].join(', ')
  const noted = notesOn(filter, total)
  if (count === 0) return [`**${title}:** none of your ${documents(total)}.`, ...noted].join('\n\n')
  if (asks === 'pages' && filter.name === undefined) {
    const pages = describeAllPages(matchingTypes)
    return isWholeLibrary ? pages : [`**${title}:** ${pages}`, ...noted].join('\n\n')
  }
  if (order !== undefined && listed.length === 1) return `**${title}:** ${lines[0] ?? ''}`
  // A fact of one file needs no count of files.
  if (filter.name !== undefined && asks !== 'documents' && asks !== 'count' && listed.length === 1)
    return lines[0] ?? ''
  const more = listed.length === 0 ? 0 : count - listed.length
  const list = [
    ...lines.map((line) => `- ${line}`),
    ...(more > 0 && order === undefined ? [`- and ${number(more)} more`] : []),
  ].join('\n')
  const head =
    order !== undefined
      ? `**${title}:**`
      : isWholeLibrary
        ? describeTotals(types)
        : `**${title}:** ${number(count)} of your ${documents(total)}.`
  return [head, ...(list === '' ? [] : [list]), ...noted].join('\n\n')
}

const notesOn = ({ language }: LibraryFilter, total: number): string[] =>
  language !== undefined && total > MAX_SAMPLED_DOCUMENTS
    ? [`Only the newest ${number(MAX_SAMPLED_DOCUMENTS)} documents were looked at.`]
    : []
