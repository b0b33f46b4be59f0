/** Streams a zip with backpressure: at most a page of messages and one chunk of a file are in memory. */
import { PassThrough, pipeline, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type ReadStreamOptions, ZipFile } from 'yazl'
import type { ConversationRow } from '#contract/conversation.ts'
import { type DocumentRow, nameWithFolder } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import type { MessageRow } from '#contract/message.ts'
import type { PersonClaims } from '#server/access/authenticate.ts'
import { AppError, toError } from '#server/base/errors.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { readConversations, readMessagesAfter } from '#server/conversations/queries.ts'
import { eachRow, type ListBounds, readJsonRows } from '#server/database/json-list.ts'
import { type Database, onlyLibrary, type Scope } from '#server/database/scope.ts'
import { getDocumentFile, readEveryVersion } from '#server/documents/store/library.ts'
import { conversationAsJson, conversationAsMarkdown, titleOf } from './conversation-text.ts'
import { createEntryNames, safeFolders, safeName, splitExtension } from './entry-names.ts'

export interface ArchiveParts {
  readonly database: Database
  readonly blobs: BlobStore
}

/** The index keeps every title until the end. */
const MAX_INDEXED_CHARACTERS = 200

interface Entry {
  readonly name: string
  readonly path: string
}

/** The stream fails if a read fails. The index lists files whose bytes are missing. */
export function writeArchive(parts: ArchiveParts, claims: PersonClaims): Readable {
  const zip = new ZipFile()
  const output = new PassThrough()
  const closed = new AbortController()
  output.once('close', () => closed.abort())
  zip.on('error', (error: Error) => output.destroy(error))
  pipeline(zip.outputStream, output, () => undefined)

  /** Resolves once the stream has been read to its end. */
  async function add(path: string, stream: Readable, options: Partial<ReadStreamOptions> = {}): Promise<void> {
    zip.addReadStream(stream, path, { mtime: new Date(), ...options })
    try {
      await finished(stream, { signal: closed.signal })
    } finally {
      stream.destroy()
    }
  }
  const addText = (path: string, text: AsyncIterable<string>) =>
    add(path, Readable.from(text, { objectMode: false }), { compress: true })

  async function write(): Promise<void> {
    const name = createEntryNames()
    const documents = await readDocuments(parts.database, claims)
    const documentPaths = assignPaths(documents, name)
    const missing: Entry[] = []

    const conversationEntries: Entry[] = []
    for await (const conversation of eachConversation(parts.database, claims)) {
      const title = titleOf(conversation)
      const stem = `${conversation.started_at.slice(0, 10)} ${safeName(title, 'Untitled')}`
      const path = name('conversations', stem, '.md')
      const messages = () => eachMessage(parts.database, claims, conversation.id)
      await addText(
        path,
        conversationAsMarkdown(conversation, messages(), (id) => documentPaths.get(id)),
      )
      await addText(path.replace(/\.md$/, '.json'), conversationAsJson(conversation, messages()))
      conversationEntries.push({ name: title.slice(0, MAX_INDEXED_CHARACTERS).toWellFormed(), path })
    }
    await addText('citations.json', citationsAsJson(parts.database, claims))
    await addText('settings.json', settingsAsJson(parts.database, claims))

    const files: Entry[] = []
    const olderVersions: Entry[] = []
    for (const document of documents) {
      const path = documentPaths.get(document.id) ?? ''
      const bytes = await openDocument(parts, claims, document.id)
      const listed = { name: document.superseded_at === null ? nameWithFolder(document) : olderName(document), path }
      if (bytes === undefined) missing.push(listed)
      else {
        const options = {
          compress: fileTypeOf(document.mimetype)?.isCompressible === true,
          mtime: new Date(document.uploaded_at),
        }
        await add(path, bytes, options)
        ;(document.superseded_at === null ? files : olderVersions).push(listed)
      }
    }
    await addText('README.md', singleChunk(renderIndex({ conversationEntries, files, olderVersions, missing })))
    zip.end()
  }

  write().catch((error: unknown) => output.destroy(toError(error)))
  return output
}

async function* singleChunk(text: string): AsyncIterable<string> {
  yield await Promise.resolve(text)
}

const olderName = (document: DocumentRow): string => `${nameWithFolder(document)}, version ${document.version}`

function assignPaths(documents: readonly DocumentRow[], name: ReturnType<typeof createEntryNames>) {
  const paths = new Map<string, string>()
  for (const { id, filename, folder, originalname, version, superseded_at: replacedAt } of documents) {
    const [stem, extension] = splitExtension(safeName(filename, 'document'))
    // A renamed file may lack its extension, which programs need to open the copy.
    const fullExtension = extension === '' ? splitExtension(originalname)[1] : extension
    paths.set(
      id,
      replacedAt === null
        ? name(['documents', ...safeFolders(folder)].join('/'), stem, fullExtension)
        : name('documents/older versions', `${stem}, version ${version}`, fullExtension),
    )
  }
  return paths
}

/** Undefined if the document or its bytes were deleted meanwhile. */
async function openDocument(
  { database, blobs }: ArchiveParts,
  claims: PersonClaims,
  id: string,
): Promise<Readable | undefined> {
  try {
    const { path } = await database.asUser(claims, (scope) => getDocumentFile(scope, id), { readOnly: true })
    return await blobs.open(path)
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

const eachConversation = (database: Database, claims: PersonClaims): AsyncGenerator<ConversationRow, void> =>
  eachRow((last, bounds) =>
    database.asUser(claims, (scope) => readConversations(scope, claims.sub, last, bounds), { readOnly: true }),
  )

const eachMessage = (
  database: Database,
  claims: PersonClaims,
  conversationId: string,
): AsyncGenerator<MessageRow, void> =>
  eachRow((last, bounds) =>
    database.asUser(claims, (scope) => readMessagesAfter(scope, conversationId, last?.position ?? 0, bounds), {
      readOnly: true,
    }),
  )

/** The series with the newest version first. */
async function readDocuments(database: Database, claims: PersonClaims): Promise<DocumentRow[]> {
  const every = eachRow<DocumentRow>((last, bounds) =>
    database.asUser(claims, (scope) => readEveryVersion(scope, last, bounds), {
      readOnly: true,
      settings: onlyLibrary(claims.sub),
    }),
  )
  const bySeries = new Map<string, DocumentRow[]>()
  for await (const document of every) {
    const series = bySeries.get(document.series) ?? []
    bySeries.set(document.series, series)
    series.push(document)
  }
  const newestOf = (series: readonly DocumentRow[]) => Math.max(...series.map((row) => Date.parse(row.uploaded_at)))
  return [...bySeries.values()]
    .map((series) => ({ series, newest: newestOf(series) }))
    .toSorted((one, other) => other.newest - one.newest)
    .flatMap(({ series }) => series)
}

async function* citationsAsJson(database: Database, claims: PersonClaims): AsyncIterable<string> {
  yield '['
  let separator = '\n'
  for await (const conversation of eachConversation(database, claims)) {
    for await (const { id, metadata } of eachMessage(database, claims, conversation.id)) {
      for (const source of metadata?.sources ?? []) {
        const citation = { conversation_id: conversation.id, message_id: id, ...source }
        yield `${separator}${JSON.stringify(citation)}`
        separator = ',\n'
      }
    }
  }
  yield '\n]\n'
}

interface Feedback {
  readonly message_id: string
  readonly version: number
}

async function* settingsAsJson(database: Database, claims: PersonClaims): AsyncIterable<string> {
  const settings = await database.asUser(
    claims,
    (scope) => scope.query<{ row: unknown }>('select to_jsonb(s) as row from user_settings s'),
    { readOnly: true },
  )
  const feedback = eachRow<Feedback>((last, bounds) =>
    database.asUser(claims, (scope) => readFeedback(scope, last, bounds), { readOnly: true }),
  )
  const head = JSON.stringify({ account: toAccount(claims), settings: settings.rows[0]?.row ?? null }, null, 2)
  yield `${head.slice(0, -2)},\n  "feedback": [`
  let separator = '\n'
  for await (const row of feedback) {
    yield `${separator}    ${JSON.stringify(row)}`
    separator = ',\n'
  }
  yield separator === '\n' ? ']\n}' : '\n  ]\n}'
}

const readFeedback = (scope: Scope, last: Feedback | undefined, bounds: ListBounds): Promise<Feedback[]> =>
  readJsonRows(
    scope,
    {
      text: `select f.* from message_feedback f
        where $1::uuid is null or (message_id, version) > ($1, $2) order by message_id, version limit $3`,
      values: [last?.message_id, last?.version, bounds.maxRows],
    },
    { ...bounds, wayOut: 'Read fewer ratings at once.' },
  )

const toAccount = ({ sub, email, user_metadata: metadata }: PersonClaims) => ({ id: sub, email, metadata })

type ArchiveContents = Record<'conversationEntries' | 'files' | 'olderVersions' | 'missing', readonly Entry[]>

function renderIndex({ conversationEntries, files, olderVersions, missing }: ArchiveContents): string {
  const link = ({ name, path }: Entry) =>
    `- [${name.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`)}](<${path}>)`
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')]
  return `${[
    `# What you had in ${PRODUCT_NAME}`,
    `Written on ${new Date().toISOString().slice(0, 10)}: ${conversationEntries.length} conversations, ${files.length} documents.`,
    '- `conversations/`: each conversation twice, as Markdown to read and as JSON for programs\n' +
      '- `documents/`: your files, byte for byte as you uploaded them, with the versions that newer ones replaced\n' +
      '- `citations.json`: every citation, with the document, the page, the range of characters and the quoted passage\n' +
      '- `settings.json`: your account, your settings and what you said of answers',
    ...section('Conversations', conversationEntries.map(link)),
    ...section('Documents', files.map(link)),
    ...section('Older versions of them', olderVersions.map(link)),
    ...section(
      'Documents that could not be read any more',
      missing.map(({ name }) => `- ${name.replaceAll(/\s+/g, ' ')}`),
    ),
  ].join('\n\n')}\n`
}
