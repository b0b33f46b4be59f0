/**
 * Visits a running server as a program of a person does, through its public protocols: signs in, uploads a file of each
 * kind, asks about each, and checks that every citation is exactly where it says. Prints what it saw as one line of JSON.
 *
 * usage: visit-installation.ts <address> [--again]: with --again nothing is uploaded or asked, only read.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import { z } from 'zod'
import { publicConfig } from '#contract/auth.ts'
import { messageRow } from '#contract/message.ts'
import { isPassageSource } from '#contract/source.ts'
import { makeDocx } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { drawText, makePng } from '#test/make-scan.ts'
import { makeWorkbook } from '#test/make-workbook.ts'

const [address = '', again] = process.argv.slice(2)
/** A person who signs up, where there is no test account. */
const VISITOR = { email: 'visitor@example.test', password: 'a long enough password' }
const WAIT_LIMIT_MS = 120_000

const QUESTIONS: readonly (readonly [question: string, filename: string])[] = [
  ['How often does the keeper trim the lamp?', 'lighthouse.pdf'],
  ['Who repairs the northern greenhouse?', 'greenhouse.docx'],
  ['What does the walnut bookcase cost?', 'furniture.xlsx'],
  ['Where is the violin stored?', 'violin.txt'],
  ['When is the rent due?', 'rent.png'],
]

async function makeFiles(): Promise<ReadonlyMap<string, Uint8Array>> {
  return new Map<string, Uint8Array>([
    ['lighthouse.pdf', makePdf(['The lighthouse keeper must trim the lamp every four hours.'])],
    ['greenhouse.docx', makeDocx([{ paragraph: 'The carpenter Ida Holm repairs the northern greenhouse.' }])],
    [
      'furniture.xlsx',
      makeWorkbook([
        {
          name: 'Prices',
          rows: [
            ['Piece', 'Price'],
            ['walnut bookcase', 480],
          ],
        },
      ]),
    ],
    ['violin.txt', Buffer.from('The violin is stored in the attic above the bakery.\n')],
    ['rent.png', await makePng(await drawText('The rent is due on the third of March.'))],
  ])
}

/** Polls: this also watches servers whose realtime is what is wrong. */
async function waitFor<T>(description: string, read: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + WAIT_LIMIT_MS; performance.now() < end; await delay(200)) {
    const found = await read()
    if (found !== undefined) return found
  }
  throw new Error(`${description}: not within ${WAIT_LIMIT_MS / 1000} s`)
}

const read = async (path: string, headers: Record<string, string> = {}): Promise<Response> => {
  const response = await fetch(`${address}${path}`, { headers })
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`)
  return response
}

const { supabaseAnonKey, testAccount } = publicConfig.parse(await (await read('/config.json')).json())
const [script] = /assets\/[\w.-]+\.js/.exec(await (await read('/')).text()) ?? []
if (script === undefined) throw new Error('the page names no script')
await read(`/${script}`)

const client = createClient(address, supabaseAnonKey, { auth: { persistSession: false } })
const account = testAccount ?? VISITOR
const entered =
  testAccount === null && again === undefined
    ? await client.auth.signUp(account)
    : await client.auth.signInWithPassword(account)
if (entered.error) throw entered.error
const session = entered.data.session ?? undefined
if (session === undefined) throw new Error('the account is not confirmed')
const headers = { authorization: `Bearer ${session.access_token}` }

const documentsSchema = z.array(z.object({ id: z.uuid(), filename: z.string(), state: z.string() }))
const listDocuments = async () =>
  documentsSchema.parse((await client.from('documents').select('id, filename, state').order('id')).data)

async function upload(): Promise<void> {
  const form = new FormData()
  for (const [name, bytes] of await makeFiles()) form.append('files', new Blob([Uint8Array.from(bytes)]), name)
  const response = await fetch(`${address}/api/documents`, { method: 'POST', headers, body: form })
  if (response.status !== 201) throw new Error(`the upload was answered ${response.status}: ${await response.text()}`)
  await waitFor('the files are read', async () => {
    const documents = await listDocuments()
    const failed = documents.find(({ state }) => state === 'failed')
    if (failed) throw new Error(`${failed.filename} could not be read`)
    return documents.every(({ state }) => state === 'ready') ? documents : undefined
  })
}

/** @throws Error unless the answer cites the file, at characters that are there */
async function ask(question: string, filename: string): Promise<void> {
  const id = crypto.randomUUID()
  await client.from('conversations').insert({ id, uid: session?.user.id, model_name: 'alcove-reader' })
  await client.from('messages').insert({ conversation_id: id, content: question, sender_role: 1 })
  const answer = await waitFor(`an answer to "${question}"`, async () => {
    const { data } = await client.from('messages').select().eq('conversation_id', id).eq('sender_role', 2)
    return data?.[0] === undefined ? undefined : messageRow.parse(data[0])
  })
  const sources = (answer.metadata?.sources ?? []).filter(isPassageSource)
  if (!sources.some((source) => source.filename === filename))
    throw new Error(`the answer to "${question}" cites no ${filename}: ${answer.content}`)
  for (const { documentId, page, start, end, text } of sources) {
    const answered = await read(`/api/documents/${documentId}/pages/${page}`, headers)
    const { text: pageText } = z.object({ text: z.string() }).parse(await answered.json())
    if (pageText.slice(start, end) !== text) throw new Error(`a citation of ${filename} is not where it says`)
  }
}

/** Digest of all that the person has: conversations, answers with their citations, pages and bytes. */
async function digestAll(): Promise<string> {
  const hash = createHash('sha256')
  for (const [table, order] of [
    ['conversations', 'id'],
    ['messages', 'id'],
    ['document_pages', 'document_id'],
  ] as const)
    hash.update(JSON.stringify((await client.from(table).select().order(order)).data))
  for (const { id, filename } of await listDocuments())
    hash.update(filename).update(Buffer.from(await (await read(`/api/documents/${id}/file`, headers)).arrayBuffer()))
  return hash.digest('hex')
}

if (again === undefined) {
  await upload()
  for (const [question, filename] of QUESTIONS) await ask(question, filename)
}
const documents = await listDocuments()
if (documents.length !== QUESTIONS.length) throw new Error(`${documents.length} documents are there`)
console.log(JSON.stringify({ files: documents.length, answers: QUESTIONS.length, digest: await digestAll() }))
