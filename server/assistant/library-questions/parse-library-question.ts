/** Recognises questions about the library itself: how many documents, which, of what kind, added when, about what. Pure. */
import { FILE_TYPES } from '#contract/file-types.ts'
import { type DaySpan, takeSpan } from './added-span.ts'
import { takeLanguage } from './document-languages.ts'
import {
  ABOUT,
  ABOUT_UNSPACED,
  ADDED,
  ADDED_BY_PERSON,
  areFillers,
  COUNT,
  DOCUMENT_NOUN,
  FAILED,
  LIBRARY,
  type LibraryOrder,
  MENTIONED_IN,
  MODAL,
  NAMED,
  NAMED_UNSPACED,
  NEW,
  NOMINATIVE,
  NUMBER_WORDS,
  ORDER_WORDS,
  OWN,
  OWN_LIBRARY,
  PAGES,
  POINTING,
  SCANNED,
  SIZE,
  TABLES,
  TYPE_WORDS,
  UNREAD,
  VERB_OF_ONE,
  WHAT,
  WHEN,
  WHICH,
  WHICH_ONE_OF,
  WHY,
} from './library-words.ts'
import {
  asksWhatKindIs,
  isFormat,
  isInOneDocument,
  isOneDocument,
  isOneObject,
  isOneOwnDocument,
  isSeveral,
  isSeveralDocuments,
} from './one-document.ts'

export interface LibraryFilter {
  /** File name extensions. */
  readonly extensions?: readonly string[]
  readonly state?: 'failed' | 'unread'
  /** ISO 639-1. */
  readonly language?: string
  readonly added?: DaySpan
  readonly isScanned?: boolean
  readonly name?: string
  readonly subject?: string
}

export interface LibraryQuestion {
  readonly asks: 'count' | 'documents' | 'pages' | 'size' | 'added'
  readonly order?: LibraryOrder
  /** Documents that are wanted in that order. */
  readonly limit?: number
  readonly filter: LibraryFilter
}

/** A longer text is no question of this kind. */
const MAX_CHARACTERS = 300
const MAX_ORDERED = 10

const ENDINGS = FILE_TYPES.flatMap(({ extensions }) => [...extensions]).join('|')
const QUOTED_FILE = new RegExp(
  String.raw`["'“”„«»「『‘]([^"'“”„«»「」『』’\n]{1,200}\.(?:${ENDINGS}))["'”“»」』’]`,
  'iu',
)
const BARE_FILE = new RegExp(
  String.raw`(?<![\p{L}\p{N}])[\p{L}\p{N}][^\s"'“”„«»「」『』,;?]{0,200}\.(?:${ENDINGS})(?![\p{L}\p{N}])`,
  'iu',
)
const QUOTED = /["“”„«「『]\s?([^"“”„«»「」『』\n]{1,120}?)\s?["”“»」』]/u

/** "Excelファイル" */
const BETWEEN_SCRIPTS =
  /(?<=\p{Script=Latin})(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])|(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])(?=\p{Script=Latin})/gu

const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .replaceAll(BETWEEN_SCRIPTS, ' ')
    .trim()

interface Words {
  readonly asksCount: boolean
  readonly asksWhich: boolean
  readonly asksWhat: boolean
  readonly isWhy: boolean
  readonly isOwn: boolean
  readonly hasNoun: boolean
  readonly isAdded: boolean
  readonly isAddedByPerson: boolean
  readonly isPointing: boolean
  readonly isWhen: boolean
  readonly isPages: boolean
  readonly isSize: boolean
  readonly order: LibraryOrder | undefined
  readonly limit: number | undefined
  readonly filter: LibraryFilter
}

const digits = (text: string): number | undefined => {
  const found = /(?<!\p{N})\d{1,3}(?!\p{N})/u.exec(text)?.[0]
  return found === undefined ? undefined : Number(found)
}

const matches = ({ source }: RegExp, text: string): boolean => new RegExp(source, 'u').test(text)

/** Takes known words out of the text one kind after another; undefined where others are left. */
function readWords(text: string, now: Date): Words | undefined {
  let rest = text
  const take = (pattern: RegExp): boolean => {
    const without = rest.replaceAll(pattern, ' ')
    const has = without !== rest
    rest = without
    return has
  }
  const isUnread = take(UNREAD)
  const isFailed = take(FAILED)
  const isWhy = take(WHY)
  const { span, ...ofSpan } = takeSpan(rest, now)
  rest = ofSpan.rest
  const type = TYPE_WORDS.find(({ pattern }) => take(pattern))
  if (type) take(TABLES)
  const isScanned = take(SCANNED)
  const order = ORDER_WORDS.find(([, pattern]) => take(pattern))?.[0]
  const asksCount = take(COUNT)
  const isPages = take(PAGES)
  const isSize = take(SIZE)
  const isLibrary = take(LIBRARY)
  const isOwn = take(OWN)
  const { language, ...ofLanguage } = takeLanguage(rest)
  rest = ofLanguage.rest
  const isAdding = take(ADDED)
  const isNew = take(NEW)
  const isAdded = isAdding || isNew
  const isWhen = take(WHEN)
  const hasDocument = take(DOCUMENT_NOUN) || type !== undefined || isScanned
  const state = isUnread ? 'unread' : isFailed ? 'failed' : undefined
  // Another library is a building.
  const hasNoun = hasDocument || (isLibrary && (state !== undefined || matches(OWN_LIBRARY, text)))
  // Possession is looked for twice, since a noun may stand inside it: "do I have" and "my files".
  const isOwned = take(OWN) || isOwn || (isLibrary && hasNoun)
  const isPointing = matches(POINTING, text)
  const [isWhich, asksWhat] = [take(WHICH), take(WHAT)]
  const limit = NUMBER_WORDS.find(([, pattern]) => order !== undefined && take(pattern))?.[0] ?? digits(rest)
  if (!areFillers(rest)) return undefined
  return {
    asksCount,
    asksWhich: isWhich || asksWhat,
    asksWhat,
    isWhy,
    isOwn: isOwned,
    hasNoun,
    isAdded,
    isAddedByPerson: isAdding && matches(ADDED_BY_PERSON, text),
    isPointing,
    isWhen,
    isPages,
    isSize,
    order,
    limit: limit === undefined ? undefined : Math.min(MAX_ORDERED, Math.max(1, limit)),
    filter: {
      ...(type ? { extensions: type.extensions } : {}),
      ...(state ? { state } : {}),
      ...(language === undefined ? {} : { language }),
      ...(span ? { added: span } : {}),
      ...(isScanned ? { isScanned } : {}),
    },
  }
}

/** Documents that are only asked for: "which of my documents". @returns their filter and what is asked */
function readHead(head: string, now: Date): Words | undefined {
  // "Does the document mention X" asks one document, and "documents that have to contain X" may not be there.
  if (matches(MODAL, head) || (isOneDocument(head) && !isSeveralDocuments(head))) return undefined
  const words = readWords(head, now)
  return words?.hasNoun && words.order === undefined && !words.isPages && !words.isSize ? words : undefined
}

const SPACE = / +/g

/** The text before and after each match. */
function* splitsAt(text: string, pattern: RegExp): Generator<readonly [before: string, after: string, found: string]> {
  for (const { 0: found, index } of text.matchAll(pattern))
    yield [text.slice(0, index), text.slice(index + found.length), found]
}

/** "Welche Unterlagen enthält der Antrag": what contains something is not the documents that are asked for. */
const isInverted = (before: string, verb: string, after: string): boolean =>
  matches(VERB_OF_ONE, verb) &&
  (NOMINATIVE.test(after) || ((isSeveral(before) || matches(COUNT, before)) && !WHICH_ONE_OF.test(before)))

function parseSubject(text: string, now: Date): LibraryQuestion | undefined {
  const about = (head: string, subject: string): LibraryQuestion | undefined => {
    const words = readHead(head, now)
    const named = subject.trim().replace(SPACE, ' ')
    // "über 10 Seiten" is a length.
    const isLength = /^\d/u.test(named) && matches(PAGES, named)
    if (!words || named === '' || areFillers(named) || isLength) return undefined
    return { asks: words.asksCount ? 'count' : 'documents', filter: { ...words.filter, subject: named } }
  }
  for (const pattern of [...MENTIONED_IN, ...ABOUT_UNSPACED]) {
    const { head, subject } = pattern.exec(text)?.groups ?? {}
    const found = subject === undefined ? undefined : about(head ?? 'documents', subject)
    if (found) return found
  }
  for (const [before, after, verb] of splitsAt(text, ABOUT)) {
    const found =
      before.trim() === '' || isInverted(before, verb, after)
        ? undefined
        : about(before, after.replace(/ (?:erwähnt|vor|genannt|handeln|sprechen)$/u, ''))
    // "in Japanese", "on paper": what follows may itself be words about the library.
    if (found) return found
  }
  return undefined
}

function parseNamed(text: string, now: Date): LibraryQuestion | undefined {
  const named = (head: string, name: string): LibraryQuestion | undefined => {
    const words = readHead(head, now)
    if (!words?.isOwn || name.trim() === '') return undefined
    return { asks: words.asksCount ? 'count' : 'documents', filter: { ...words.filter, name: name.trim() } }
  }
  for (const pattern of NAMED_UNSPACED) {
    const { head = '', name } = pattern.exec(text)?.groups ?? {}
    const found = name === undefined ? undefined : named(`${head} documents`, name)
    if (found) return found
  }
  for (const [before, after] of splitsAt(text, NAMED)) {
    const found = before.trim() === '' ? undefined : named(before, after)
    if (found) return found
  }
  return undefined
}

const asksOf = ({ isPages, isSize, isWhen, isAdded, asksCount, order }: Words): LibraryQuestion['asks'] =>
  isPages && order === undefined
    ? 'pages'
    : isSize
      ? 'size'
      : isWhen && isAdded
        ? 'added'
        : asksCount && order === undefined
          ? 'count'
          : 'documents'

/** "What is in my document?", "What does the image show?", "What is Excel?" */
function asksForContents(words: Words, text: string): boolean {
  const { asksCount, asksWhich, asksWhat, isOwn, isAdded, isWhen, isPages, isSize, order, filter } = words
  const { extensions, state, language, added, isScanned } = filter
  if (matches(MODAL, text) && !(state !== undefined && !isAdded)) return true
  if (isInOneDocument(text)) return !(isPages && isOneOwnDocument(text))
  if (isFormat(text) && !isOwn) return true
  const isOfKind = extensions !== undefined || isScanned === true
  if (asksCount && isOfKind && !isPages && isOneDocument(text) && !isSeveralDocuments(text)) return true
  const isOfProperty =
    order !== undefined || state !== undefined || (isAdded && (added !== undefined || isWhen)) || isPages || isSize
  if (!asksWhich || asksCount || isOfProperty) return false
  if (asksWhat) return isOneObject(text) || (isOfKind && !isOwn && language === undefined && asksWhatKindIs(text))
  return isOfKind && !isOwn && language === undefined && isOneObject(text)
}

/** A noun, a property or a word that points at the documents: "Why?" and "What is this?" ask something else. */
function continuesLibrary({
  hasNoun,
  isPointing,
  isAdded,
  asksCount,
  asksWhat,
  asksWhich,
  order,
  filter,
}: Words): boolean {
  const { extensions, state, language, added, isScanned } = filter
  if (hasNoun || isPointing || state !== undefined) return true
  if (order !== undefined) return asksWhich && !isAdded
  if (asksWhat) return false
  return (
    extensions !== undefined ||
    language !== undefined ||
    isScanned === true ||
    (added !== undefined && (isAdded || asksCount || asksWhich))
  )
}

/** A question of library words alone: whether it says that it means the person's documents. */
function isAboutLibrary(words: Words, text: string, isAfterLibraryQuestion: boolean): boolean {
  const { hasNoun, isOwn, isAdded, asksCount, asksWhich, isWhy, isPages, isSize, order, filter } = words
  const { extensions, state, language, added, isScanned } = filter
  if (asksForContents(words, text)) return false
  const isAsked = asksCount || asksWhich || isWhy || isOwn || order !== undefined
  if (isAfterLibraryQuestion && (isAsked || isPages) && continuesLibrary(words)) return true
  if (added !== undefined && !isAdded) return false
  if (!hasNoun)
    return (
      (isPages && asksCount && isOwn) ||
      (words.isAddedByPerson && asksWhich && (added !== undefined || order !== undefined))
    )
  if (isPages && order === undefined) return asksCount && isOwn
  if (isSize) return isOwn
  if (added !== undefined) return true
  if (isOwn) return isAsked
  if (state !== undefined || order !== undefined) return isAsked
  return (asksCount || asksWhich) && (extensions !== undefined || language !== undefined || isScanned === true)
}

/** Words of which a question about the library has one; most other questions have none, and are looked at no further. */
const OBJECT_WORDS = new RegExp(
  [DOCUMENT_NOUN, LIBRARY, PAGES, ADDED, NEW, SCANNED, ...TYPE_WORDS.map(({ pattern }) => pattern)]
    .map(({ source }) => source)
    .join('|'),
  'u',
)

/** @param isAfterLibraryQuestion whether the question before it was one, so that "and which of them are PDFs" is one too */
function parseAlone(question: string, now: Date, isAfterLibraryQuestion: boolean): LibraryQuestion | undefined {
  if (question.length > MAX_CHARACTERS || question.includes('\n')) return undefined
  const file = QUOTED_FILE.exec(question)?.[1] ?? BARE_FILE.exec(question)?.[0]
  if (file !== undefined) return parseAboutFile(question, file, now)
  const text = plain(question)
  if (!isAfterLibraryQuestion && !OBJECT_WORDS.test(text)) return undefined
  const words = readWords(text, now)
  if (!words) return parseSubjectOrName(question, now)
  if (!isAboutLibrary(words, text, isAfterLibraryQuestion)) return undefined
  const { filter, order: said, limit } = words
  const order = said ?? (words.isAdded && filter.added === undefined && !words.asksCount ? 'newest' : undefined)
  return {
    asks: asksOf(words),
    filter,
    ...(order === undefined ? {} : { order }),
    ...(order === undefined || limit === undefined ? {} : { limit }),
  }
}

function parseSubjectOrName(question: string, now: Date): LibraryQuestion | undefined {
  const text = plain(question)
  const subject = parseSubject(text, now)
  if (subject) return withOriginalWords(question, subject)
  const quoted = QUOTED.exec(question)
  const named = parseNamed(quoted ? plain(question.replace(quoted[0], ` ${quoted[1] ?? ''} `)) : text, now)
  return named && withOriginalWords(question, named)
}

/** Before the name of a file. */
const PLACE =
  /(?:^| )(?:in|inside|on|of|from|auf|aus|im|dans|sur|de|du|en|nel|nella|su|em|no|na|op|uit|van|i|på|w|na|в|во|на)(?: (?:my|the|meiner|der|dem|mon|le|mi|el|il|meu|o|mijn|de|het))?$/u

/** "Do I have lease.pdf?", "How many pages has lease.pdf?", "Why could lease.pdf not be read?" */
function parseAboutFile(question: string, file: string, now: Date): LibraryQuestion | undefined {
  const [before = ''] = question.split(file)
  const words = readWords(plain(question.replace(file, ' ').replace(NAMED, ' ')), now)
  if (!words || words.order !== undefined) return undefined
  const { isPages, asksCount, asksWhich, isSize, isWhen, isAdded, isOwn, filter } = words
  // "What is in my lease.pdf" and "Are there pictures in lease.pdf" ask for what it holds.
  const isHad = isOwn && !asksWhich && !asksCount && filter.extensions === undefined && !PLACE.test(plain(before))
  const isMeant = (isPages && asksCount) || isSize || (isWhen && isAdded) || filter.state === 'failed' || isHad
  return isMeant && filter.language === undefined ? { asks: asksOf(words), filter: { name: file } } : undefined
}

/** Subjects and names as they were typed, where the lower case text occurs there as it is. */
function withOriginalWords(question: string, parsed: LibraryQuestion): LibraryQuestion {
  const { subject, name } = parsed.filter
  const asTyped = (text: string): string => {
    const at = question.toLowerCase().indexOf(text)
    return at < 0 || question.length !== question.toLowerCase().length ? text : question.slice(at, at + text.length)
  }
  return {
    ...parsed,
    filter: {
      ...parsed.filter,
      ...(subject === undefined ? {} : { subject: asTyped(subject) }),
      ...(name === undefined ? {} : { name: asTyped(name) }),
    },
  }
}

/**
 * @param earlier questions of the conversation, oldest first: "and which of them are PDFs" continues one about the library
 * @param now time on the clock of the person, for "yesterday"
 */
export function parseLibraryQuestion(
  question: string,
  { earlier = [], now }: { readonly earlier?: readonly string[]; readonly now: Date },
): LibraryQuestion | undefined {
  const alone = parseAlone(question, now, false)
  if (alone) return alone
  const before = earlier.at(-1)
  const previous =
    before === undefined ? undefined : parseLibraryQuestion(before, { earlier: earlier.slice(0, -1), now })
  const continued = previous && parseAlone(question, now, true)
  return continued && { ...continued, filter: { ...previous.filter, ...continued.filter } }
}

const NEAR = '[^.!?\\n]{0,30}?'
const ASKS_FOR_DOCUMENTS = new RegExp(
  `(?:${COUNT.source}|${WHICH.source})${NEAR}(?:${DOCUMENT_NOUN.source})|(?:${DOCUMENT_NOUN.source})${NEAR}(?:${COUNT.source}|${WHICH.source})`,
  'u',
)
const OWNED = new RegExp(OWN.source, 'u')

/** Whether the names of the documents may help a model to answer: "Which of my files should I read first?" */
export const concernsLibrary = (question: string): boolean => {
  const text = question.length > MAX_CHARACTERS ? '' : plain(question)
  return ASKS_FOR_DOCUMENTS.test(text) && OWNED.test(text)
}
