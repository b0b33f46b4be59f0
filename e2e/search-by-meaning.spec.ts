/** An embeddings model that the server's endpoint lists: offered, switched on, counted, used by a question, switched off. */
import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, type Stage, startChat } from './stage.ts'

/** Passages that are sent to the endpoint at a time. */
const BATCH = 32
const MEANT = 'The warden has a straw box for the prickly guests of the garden.'

let stage: Stage
let page: Page
let endpoint: Server
let host: string
let stubAddress: string
/** Texts that the endpoint was sent. */
let sent: string[] = []
/** Answers of the endpoint wait for it. */
let mayAnswer: Promise<void> = Promise.resolve()
let isBroken = false

/** Its two meanings: hedgehogs, of which no list of synonyms knows these words, and everything else. */
const vectorOf = (text: string) => (/hedgehog|prickly guests/.test(text) ? [1, 0.1] : [0.1, -1])

/** Stands for Ollama: lists the chat model of the stage and an embeddings model, whose vectors it computes itself. */
async function startEndpoint(): Promise<void> {
  endpoint = createServer((request, response) => {
    const answer = async () => {
      const body = await readText(request)
      const { pathname } = new URL(request.url ?? '/', 'http://endpoint.test')
      response.setHeader('content-type', 'application/json')
      if (pathname === '/v1/models')
        return void response.end(JSON.stringify({ data: [{ id: 'stub-gpt' }, { id: 'nomic-embed-text:latest' }] }))
      if (pathname.startsWith('/api/')) return void response.writeHead(404).end()
      if (pathname !== '/v1/embeddings') {
        const { method, headers } = request
        const onward = httpRequest(`${stubAddress}${pathname.slice('/v1'.length)}`, { method, headers }, (answered) => {
          response.writeHead(answered.statusCode ?? 502, answered.headers)
          answered.pipe(response)
        })
        return void onward.end(body)
      }
      const { input } = JSON.parse(body) as { input: string[] }
      sent.push(...input)
      // The test text and the first batch are answered at once.
      if (sent.length > 1 + BATCH) await mayAnswer
      if (isBroken) return void response.writeHead(400).end(JSON.stringify({ error: { message: 'out of memory' } }))
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }))
      response.end(JSON.stringify({ data, usage: { prompt_tokens: 1 } }))
    }
    answer().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  }).listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  const address = endpoint.address()
  if (address === null || typeof address === 'string') throw new Error('the endpoint has no port')
  host = `127.0.0.1:${address.port}`
}

beforeAll(async () => {
  await startEndpoint()
  stage = await openStage({
    environment: ({ baseUrl }) => {
      stubAddress = baseUrl
      return { OPENAI_COMPATIBLE_BASE_URL: `http://${host}/v1` }
    },
  })
  page = stage.page
})
afterAll(async () => {
  await stage.close()
  endpoint.closeAllConnections()
  endpoint.close()
})

const tab = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
/** A press on the open tab would close it. */
async function openSettings(): Promise<void> {
  if ((await page.getByRole('heading', { name: 'Settings' }).count()) === 0) await tab('Settings').click()
}
const offer = () => page.getByRole('region', { name: 'Search by meaning' })
const toggle = () => offer().getByRole('switch', { name: 'Search by meaning with nomic-embed-text' })
const isInPrompt = async () => JSON.stringify(await stage.stub.lastRequest()).includes('prickly guests')

async function addDocument(name: string, text: string): Promise<void> {
  await tab('Files').click()
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await page.getByRole('listitem').and(page.locator('[data-state=ready]')).filter({ hasText: name }).first().waitFor()
}

test('the settings offer the model and say what would be sent where; until then nothing is', async () => {
  const filler = Array.from(
    { length: 90 },
    (_, n) => `Entry ${n}. ${`The harbour ledger of day ${n} names copper. `.repeat(18)}`,
  )
  await addDocument('bylaws.txt', [...filler, MEANT].join('\n\n'))
  await openSettings()
  await offer()
    .getByText(
      `The text of all your documents, and every question, would be sent to ${host}, on the machine of this server.`,
    )
    .waitFor()
  expect(await toggle().getAttribute('aria-checked')).toBe('false')
  await startChat(page, 'Where do hedgehogs sleep?')
  expect(await isInPrompt()).toBe(false)
  expect(sent).toEqual([])
})

test('switched on, it counts the passages that are read in the background', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  mayAnswer = promise
  await openSettings()
  await toggle().click()
  await expect.poll(() => toggle().getAttribute('aria-checked')).toBe('true')
  await offer()
    .getByText(/^32 of \d+ passages$/)
    .waitFor()
  resolve(undefined)
  await expect
    .poll(
      async () => {
        const [done, all] = (
          await offer()
            .getByText(/ passages$/)
            .innerText()
        )
          .split(' of ')
          .map((part) => parseInt(part))
        return done === all && (done ?? 0) > BATCH
      },
      { timeout: 30_000 },
    )
    .toBe(true)
  expect(sent.some((text) => text.includes('prickly guests'))).toBe(true)
})

test('a question whose words no document has finds the passage that means the same', async () => {
  await startChat(page, 'Where do hedgehogs sleep?')
  expect(await isInPrompt()).toBe(true)
})

test('an endpoint that fails is told of in the settings, and words go on finding', async () => {
  isBroken = true
  await addDocument('later.txt', 'The lighthouse keeper paints the lantern each May.')
  await openSettings()
  await offer()
    .getByRole('alert')
    .getByText(/out of memory.*until then words are searched/)
    .waitFor({ timeout: 30_000 })
  await startChat(page, 'Who paints the lantern?')
  expect(JSON.stringify(await stage.stub.lastRequest())).toContain('lighthouse keeper')
  isBroken = false
})

test('switched off, nothing is sent and nothing found by meaning any more', async () => {
  await openSettings()
  await toggle().click()
  await expect.poll(() => toggle().getAttribute('aria-checked')).toBe('false')
  expect(
    await offer()
      .getByText(/ passages$/)
      .count(),
  ).toBe(0)
  sent = []
  await startChat(page, 'Where do hedgehogs sleep?')
  expect(await isInPrompt()).toBe(false)
  expect(sent).toEqual([])
})

test('a model that cannot answer is not switched on, and the row says why', async () => {
  isBroken = true
  await openSettings()
  await toggle().click()
  await offer()
    .getByRole('alert')
    .getByText(/out of memory/)
    .waitFor()
  expect(await toggle().getAttribute('aria-checked')).toBe('false')
})
