/**
 * Everything that a person has here as one zip, written while it is read: at no moment more than a few messages and one
 * piece of a file are in memory, and a slow reader slows the reading.
 */
import { PassThrough, pipeline, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type ReadStreamOptions, ZipFile } from 'yazl'
import { type ConversationRow } from '#contract/conversation.ts'
import { type DocumentRow } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'
import { PRODUCT_NAME } from '#contract/limits.ts'
import { type MessageRow } from '#contract/message.ts'
import { type PersonClaims } from '#server/access/authenticate.ts'
import { AppError } from '#server/base/errors.ts'
import { type BlobStore } from '#server/blobs/store.ts'
import { listConversations, listMessagesAfter } from '#server/conversations/queries.ts'
import { type Database, type Scope } from '#server/database/scope.ts'
import { getDocumentFile, listEveryVersion } from '#server/documents/store/library.ts'
import { conversationAsJson, conversationAsMarkdown, titleOf } from './conversation-text.ts'
import { createEntryNames, safeName, splitEnding } from './entry-names.ts'

export interface ArchiveParts {
  readonly database: Database
  readonly blobs: BlobStore
}

const MESSAGES_AT_A_TIME = 50

interface Listed {
  readonly name: string
  readonly path: string
}

/**
 * The archive as a stream, which fails where something cannot be read. A file whose bytes are gone is left out and named
 * in the index.
 */
export function writeArchive(parts: ArchiveParts, claims: PersonClaims): Readable {
  const zip = new ZipFile()
  const output = new PassThrough()
  const gone = new AbortController()
  output.once('close', () => gone.abort())
  zip.on('error', (error: Error) => output.destroy(error))
  pipeline(zip.outputStream, output, () => undefined)

  /** Resolves once the stream has been read to its end, which is as fast as the archive is taken. */
  async function add(path: string, stream: Readable, options: Partial<ReadStreamOptions> = {}): Promise<void> {
    zip.addReadStream(stream, path, { mtime: new Date(), ...options })
    try {
      await finished(stream, { signal: gone.signal })
    } finally {
      stream.destroy()
    }
  }
  const addText = (path: string, text: AsyncIterable<string>) =>
    add(path, Readable.from(text, { objectMode: false }), { compress: true })

  async function write(): Promise<void> {
    const read = <T>(run: (scope: Scope) => Promise<T>) => parts.database.asUser(claims, run, { readOnly: true })
    const name = createEntryNames()
    const { conversations, documents } = await read(async (scope) => ({
      conversations: await listConversations(scope, claims.sub),
      documents: await listEveryVersion(scope),
    }))
    const documentPaths = nameDocuments(documents, name)
    const missing: Listed[] = []

    const talks: Listed[] = []
    for (const conversation of conversations) {
      const title = titleOf(conversation)
      const stem = `${conversation.started_at.slice(0, 10)} ${safeName(title, 'Untitled')}`
      const path = name('conversations', stem, '.md')
      const messages = () => eachMessage(parts.database, claims, conversation)
      await addText(
        path,
        conversationAsMarkdown(conversation, messages(), (id) => documentPaths.get(id)),
      )
      await addText(path.replace(/\.md$/, '.json'), conversationAsJson(conversation, messages()))
      talks.push({ name: title, path })
    }
    await addText('citations.json', citationsAsJson(parts.database, claims, conversations))
    const settings = await read(readSettings)
    await addText('settings.json', once(JSON.stringify({ account: accountOf(claims), ...settings }, null, 2)))

    const files: Listed[] = []
    const older: Listed[] = []
    for (const document of documents) {
      const path = documentPaths.get(document.id) ?? ''
      const bytes = await openDocument(parts, claims, document.id)
      const listed = { name: document.superseded_at === null ? document.filename : olderName(document), path }
      if (bytes === undefined) missing.push(listed)
      else {
        const options = {
          compress: fileTypeOf(document.mimetype)?.isCompressible === true,
          mtime: new Date(document.uploaded_at),
        }
        await add(path, bytes, options)
        ;(document.superseded_at === null ? files : older).push(listed)
      }
    }
    await addText('README.md', once(indexOf({ talks, files, older, missing })))
    zip.end()
  }

  write().catch((error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error))))
  return output
}

async function* once(text: string): AsyncIterable<string> {
  yield await Promise.resolve(text)
}

const olderName = ({ filename, version }: DocumentRow): string => `${filename}, version ${version}`

function nameDocuments(documents: readonly DocumentRow[], name: ReturnType<typeof createEntryNames>) {
  const paths = new Map<string, string>()
  for (const { id, filename, originalname, version, superseded_at: replacedAt } of documents) {
    const [stem, given] = splitEnding(safeName(filename, 'document'))
    // Who renames a file may leave its ending out; without it no program would open the copy.
    const ending = given === '' ? splitEnding(originalname)[1] : given
    paths.set(
      id,
      replacedAt === null
        ? name('documents', stem, ending)
        : name('documents/older versions', `${stem}, version ${version}`, ending),
    )
  }
  return paths
}

/** Undefined where the document or its bytes went meanwhile. */
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

async function* eachMessage(
  database: Database,
  claims: PersonClaims,
  { id }: ConversationRow,
): AsyncGenerator<MessageRow, void> {
  let after = 0
  for (;;) {
    const rows = await database.asUser(
      claims,
      (scope) => listMessagesAfter(scope, id, { after, limit: MESSAGES_AT_A_TIME }),
      { readOnly: true },
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.position
  }
}

/** Every citation of every answer, with where it is and what it quotes. */
async function* citationsAsJson(
  database: Database,
  claims: PersonClaims,
  conversations: readonly ConversationRow[],
): AsyncIterable<string> {
  yield '['
  let separator = '\n'
  for (const conversation of conversations) {
    for await (const { id, metadata } of eachMessage(database, claims, conversation)) {
      for (const source of metadata?.sources ?? []) {
        const citation = { conversation_id: conversation.id, message_id: id, ...source }
        yield `${separator}${JSON.stringify(citation)}`
        separator = ',\n'
      }
    }
  }
  yield '\n]\n'
}

async function readSettings(scope: Scope) {
  const settings = await scope.query<{ row: unknown }>('select to_jsonb(s) as row from user_settings s')
  const feedback = await scope.query<{ row: unknown }>('select to_jsonb(f) as row from message_feedback f')
  return { settings: settings.rows[0]?.row ?? null, feedback: feedback.rows.map(({ row }) => row) }
}

/** What the token says of the person. */
const accountOf = ({ sub, email, user_metadata: metadata }: PersonClaims) => ({ id: sub, email, metadata })

type Contents = Record<'talks' | 'files' | 'older' | 'missing', readonly Listed[]>

function indexOf({ talks, files, older, missing }: Contents): string {
  const link = ({ name, path }: Listed) =>
    `- [${name.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`)}](<${path}>)`
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')]
  return `${[
    `# What you had in ${PRODUCT_NAME}`,
    `Written on ${new Date().toISOString().slice(0, 10)}: ${talks.length} conversations, ${files.length} documents.`,
    '- `conversations/`: each conversation twice, as Markdown to read and as JSON for programs\n' +
      '- `documents/`: your files, byte for byte as you uploaded them, with the versions that newer ones replaced\n' +
      '- `citations.json`: every citation, with the document, the page, the range of characters and the quoted passage\n' +
      '- `settings.json`: your account, your settings and what you said of answers',
    ...section('Conversations', talks.map(link)),
    ...section('Documents', files.map(link)),
    ...section('Older versions of them', older.map(link)),
    ...section(
      'Documents that could not be read any more',
      missing.map(({ name }) => `- ${name.replaceAll(/\s+/g, ' ')}`),
    ),
  ].join('\n\n')}\n`
}
