/**
 * Data folders that released versions filled, one archive of each in `test/releases`, and what people saw there.
 * `scripts/store-release.ts` makes them.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { z } from 'zod'
import type { AlcoveProcess } from './alcove.ts'

const personSchema = z.object({
  email: z.string(),
  password: z.string(),
  refreshToken: z.string(),
  /** Each with the SHA-256 hash of its file and the texts of its pages. */
  documents: z.array(
    z.object({ id: z.string(), filename: z.string(), sha256: z.string(), pages: z.array(z.string()).min(1) }),
  ),
  conversations: z.array(z.object({ id: z.string(), title: z.string().nullable(), model_name: z.string() })),
  messages: z.array(
    z.object({ id: z.string(), conversation_id: z.string(), sender_role: z.number(), content: z.string() }),
  ),
  citations: z.array(
    z.object({ message: z.string(), document: z.string(), page: z.number(), start: z.number(), end: z.number(), passage: z.string() }),
  ),
  /** Answers that others replaced. */
  versions: z.array(z.object({ message_id: z.string(), content: z.string() })),
  feedback: z.array(z.object({ message_id: z.string(), rating: z.number() })),
  preferences: z.record(z.string(), z.unknown()),
  providers: z.array(z.object({ kind: z.string(), last_four: z.string().nullable() })),
  /** A stored object, with its text. */
  object: z.object({ bucket: z.string(), name: z.string(), text: z.string() }),
}) // prettier-ignore

export const releaseSchema = z.object({ version: z.string(), people: z.array(personSchema).length(2) })
export type Release = z.infer<typeof releaseSchema>
export type ReleasedPerson = z.infer<typeof personSchema>

export const RELEASES = path.join(import.meta.dirname, 'releases')
const archiveOf = (version: string): string => path.join(RELEASES, `${version}.tar.zst`)
export const expectationsOf = (version: string): string => path.join(RELEASES, `${version}.json`)

/** The databases of one cluster repeat the catalogue; a window that holds them all stores it once. */
const WINDOW_LOG = 27

export async function packDataFolder(dataDir: string, version: string, names: readonly string[]): Promise<void> {
  const archive = `${dataDir}.tar`
  await promisify(execFile)('tar', ['-C', dataDir, '--sort=name', '--owner=0', '--group=0', '-cf', archive, ...names])
  const compress = createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: 19,
      [constants.ZSTD_c_windowLog]: WINDOW_LOG,
      [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    },
  })
  await pipeline(createReadStream(archive), compress, createWriteStream(archiveOf(version)))
  await rm(archive)
}

export async function unpackDataFolder(version: string, dataDir: string): Promise<void> {
  await mkdir(dataDir, { mode: 0o711 })
  const archive = `${dataDir}.tar`
  const decompress = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG } })
  await pipeline(createReadStream(archiveOf(version)), decompress, createWriteStream(archive))
  await promisify(execFile)('tar', ['-C', dataDir, '--no-same-owner', '-xpf', archive])
  await rm(archive)
}

export async function readRelease(version: string): Promise<Release> {
  return releaseSchema.parse(JSON.parse(await readFile(expectationsOf(version), 'utf8')))
}

/** One person who is signed in. */
export interface Visitor {
  readonly client: SupabaseClient
  readonly headers: { readonly authorization: string }
  readonly id: string
}

export async function openClient(alcove: AlcoveProcess): Promise<SupabaseClient> {
  const { supabaseAnonKey } = await alcove.config()
  return createClient(alcove.url, supabaseAnonKey, { auth: { persistSession: false, autoRefreshToken: false } })
}

export function visitorOf(
  client: SupabaseClient,
  session: { access_token: string; user: { id: string } } | null,
): Visitor {
  if (session === null) throw new Error('there is no session')
  return { client, headers: { authorization: `Bearer ${session.access_token}` }, id: session.user.id }
}

const sourcesSchema = z.array(
  z.looseObject({
    id: z.string(),
    metadata: z
      .looseObject({
        sources: z
          .array(
            z.looseObject({ documentId: z.string(), page: z.number(), start: z.number(), end: z.number(), text: z.string() }),
          )
          .optional(),
      })
      .nullable(),
  }),
) // prettier-ignore
const rowsSchema = personSchema.pick({
  conversations: true,
  messages: true,
  versions: true,
  feedback: true,
  providers: true,
})
const pageSchema = z.looseObject({ text: z.string() })
const digest = async (bytes: ArrayBuffer): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')

/** Reads what the person sees: through the services, and through the product's API where the page uses that. */
export async function see(
  alcove: AlcoveProcess,
  { client, headers }: Visitor,
  object: ReleasedPerson['object'],
): Promise<Omit<ReleasedPerson, 'email' | 'password' | 'refreshToken'>> {
  const get = async (address: string): Promise<Response> => {
    const response = await fetch(`${alcove.url}${address}`, { headers })
    if (!response.ok) throw new Error(`${address}: ${response.status}`)
    return response
  }
  const read = async (table: string, columns: string, ...orders: string[]): Promise<unknown> => {
    let query = client.from(table).select(columns)
    for (const order of orders) query = query.order(order)
    const { data, error } = await query
    if (error) throw error
    return data
  }
  const readPage = async (document: string, page: number): Promise<string> =>
    pageSchema.parse(await (await get(`/api/documents/${document}/pages/${page}`)).json()).text

  const found = z
    .array(z.object({ id: z.string(), filename: z.string(), pages: z.number() }))
    .parse(await read('documents', 'id, filename, pages', 'filename'))
  const documents = []
  for (const { id, filename, pages } of found) {
    const texts = []
    for (let page = 1; page <= pages; page += 1) texts.push(await readPage(id, page))
    const file = await (await get(`/api/documents/${id}/file`)).arrayBuffer()
    documents.push({ id, filename, sha256: await digest(file), pages: texts })
  }
  const citations = []
  for (const { id: message, metadata } of sourcesSchema.parse(await read('messages', 'id, metadata', 'position')))
    for (const { documentId: document, page, start, end } of metadata?.sources ?? [])
      citations.push({
        message,
        document,
        page,
        start,
        end,
        passage: (await readPage(document, page)).slice(start, end),
      })
  const stored = await client.storage.from(object.bucket).download(object.name)
  if (stored.error) throw stored.error
  const [settings] = z
    .array(z.object({ preferences: z.record(z.string(), z.unknown()) }))
    .parse(await read('user_settings', 'preferences'))
  return {
    documents,
    citations,
    ...rowsSchema.parse({
      conversations: await read('conversations', 'id, title, model_name', 'id'),
      messages: await read('messages', 'id, conversation_id, sender_role, content', 'position'),
      versions: await read('message_versions', 'message_id, content', 'message_id'),
      feedback: await read('message_feedback', 'message_id, rating', 'message_id'),
      providers: await (await get('/api/providers')).json(),
    }),
    preferences: settings?.preferences ?? {},
    object: { ...object, text: await stored.data.text() },
  }
}

/** Asks a question and waits for its answer. */
export async function ask(
  { client }: Visitor,
  conversation: string,
  content: string,
): Promise<{ readonly content: string; readonly documents: readonly string[] }> {
  const question = crypto.randomUUID()
  const { error } = await client
    .from('messages')
    .insert({ id: question, conversation_id: conversation, content, sender_role: 1 })
  if (error) throw error
  const asked = await client.from('messages').select('position').eq('id', question).single<{ position: number }>()
  if (asked.error) throw asked.error
  for (;;) {
    const { data } = await client
      .from('messages')
      .select('id, content, metadata')
      .eq('conversation_id', conversation)
      .eq('sender_role', 2)
      .gt('position', asked.data.position)
    const [answer] = sourcesSchema.parse(data)
    if (answer !== undefined)
      return {
        content: z.string().parse(answer['content']),
        documents: (answer.metadata?.sources ?? []).map(({ documentId }) => documentId),
      }
    await wait(50)
  }
}

export interface NamedFile {
  readonly name: string
  readonly bytes: Buffer
}

/** Uploads files and waits until they are read. */
export async function addFiles(
  alcove: AlcoveProcess,
  { client, headers }: Visitor,
  files: readonly NamedFile[],
): Promise<void> {
  const form = new FormData()
  for (const { name, bytes } of files) form.append('files', new Blob([Uint8Array.from(bytes)]), name)
  const response = await fetch(`${alcove.url}/api/documents`, { method: 'POST', headers, body: form })
  if (!response.ok) throw new Error(`the upload is answered ${response.status}: ${await response.text()}`)
  for (let ready = 0; ready < files.length; await wait(100)) {
    const names = files.map(({ name }) => name)
    const found = await client.from('documents').select('id').eq('state', 'ready').in('filename', names)
    ready = found.data?.length ?? 0
  }
}
