/** The path of a newcomer: open the address, sign in, upload, ask, watch the answer arrive, open its source. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@supabase/supabase-js'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { PageText } from '#contract/document.ts'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { ask, markedText, openBrowser, openPage, signInWithTestAccount, type WatchedPage } from './browser.ts'
import { makePdf } from '#test/make-pdf.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'

const REAL_PDF = fileURLToPath(new URL('../../shared/data/dev/documents/dense-passage-retrieval.pdf', import.meta.url))
const TWICE = 'The reading lamp burns until midnight.'

let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess
let stub: StubModel
let browser: Browser
let opened: WatchedPage
let page: Page

beforeAll(async () => {
  folder = await createDataDir()
  stub = await startStubModel({ models: 'stub-gpt', tokens: 120, tps: 60 })
  alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
    DEFAULT_MODEL: 'alcove-reader',
  })
  browser = await openBrowser()
  opened = await openPage(browser, alcove.url)
  page = opened.page
})
afterAll(async () => {
  await browser.close()
  await alcove.end()
  await stub.stop()
  await folder.remove()
})

const upload = (name: string, buffer: Buffer) =>
  page.locator('input[type=file]').first().setInputFiles({ name, mimeType: 'application/pdf', buffer })

test('a newcomer is sent to the sign-in page and comes back signed in', async () => {
  await page.waitForURL('**/login')
  await page.getByRole('heading', { name: 'Sign in to Alcove' }).waitFor()
  await signInWithTestAccount(page)
  expect(new URL(page.url()).pathname).toBe('/')
})

test('a document is uploaded from the welcome card and read', async () => {
  await page.getByRole('button', { name: 'Upload your first document' }).click()
  await upload(
    'lamps.pdf',
    makePdf([
      'Nothing of note stands here.',
      `Rules of the alcove.\n${TWICE}\nAfter that the warden trims it.\n\nIn winter it is otherwise.\n${TWICE}`,
    ]),
  )
  await page.getByText('Ready').first().waitFor()
})

test('the Reader answers with a quote whose source opens the page with exactly that text marked', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, 'Who trims the reading lamp after midnight?')
  await page.getByText('After that the warden trims it').first().waitFor()
  await page.getByText('Using your knowledge').waitFor()
  await page
    .getByRole('button', { name: /Source 1: lamps\.pdf page 2/ })
    .first()
    .click()
  await expect.poll(() => markedText(page)).toContain('warden trims it')
  expect(new URL(page.url()).searchParams.get('page')).toBe('2')
})

test('on a phone the cited lines are large enough to be read, and zooming out shows more of the page', async () => {
  // Also after a try that failed: the tests that follow are about a desk.
  onTestFinished(() => page.setViewportSize({ width: 1440, height: 900 }))
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  const mark = () =>
    page.evaluate(() => {
      const [range] = CSS.highlights.get('source-passage') ?? []
      const { left = 0, right = 0, height = 0 } = range instanceof Range ? range.getBoundingClientRect() : {}
      return { left, right, height }
    })
  await expect.poll(async () => (await mark()).height).toBeGreaterThan(12)
  await expect.poll(async () => (await mark()).left).toBeGreaterThan(0)
  await expect.poll(async () => (await mark()).right).toBeLessThan(390)
  const { height } = await mark()
  await expect.poll(() => markedText(page)).toContain('warden trims it')
  await page.getByRole('button', { name: 'Zoom out' }).click()
  await expect.poll(async () => (await mark()).height).toBeLessThan(0.9 * height)
})

test('a sentence that stands twice on a page is marked where it was found', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/keys.ts'], {
    env: { ...process.env, DATA_DIR: folder.dataDir },
  })
  const { serviceRoleKey } = JSON.parse(stdout) as { serviceRoleKey: string }
  const service = createClient(alcove.url, serviceRoleKey, { auth: { persistSession: false } })
  const documents = await service.from('documents').select('id').eq('filename', 'lamps.pdf').single()
  const documentId = (documents.data as { id: string }).id
  const pageText = await page.evaluate(
    async (id) => (await (await fetch(`/api/documents/${id}/pages/2`)).json()) as PageText,
    documentId,
  )
  const start = pageText.text.lastIndexOf(TWICE)
  expect(start).toBeGreaterThan(pageText.text.indexOf(TWICE))
  const source = {
    n: 1,
    documentId,
    filename: 'lamps.pdf',
    page: 2,
    start,
    end: start + TWICE.length,
    text: TWICE,
    score: 1,
  }
  const conversationId = new URL(page.url()).searchParams.get('chat')
  const inserted = await service.from('messages').insert({
    conversation_id: conversationId,
    content: 'It burns until midnight in winter too [1].',
    sender_role: 2,
    metadata: { sources: [source] },
  })
  expect(inserted.error).toBeNull()
  await page.getByText('It burns until midnight in winter too').waitFor()
  await page
    .getByRole('button', { name: /Source 1: lamps\.pdf page 2/ })
    .last()
    .click()
  await expect.poll(() => markedText(page)).toBe(TWICE)
  const occurrence = await page.evaluate((sentence) => {
    const [range] = CSS.highlights.get('source-passage') ?? []
    const lines = [...document.querySelectorAll('[data-passage] span')].filter((line) =>
      line.textContent.includes(sentence),
    )
    return range instanceof Range ? lines.findIndex((line) => line.contains(range.startContainer)) : -1
  }, TWICE)
  expect(occurrence).toBe(1)
})

test('a model answer streams in, survives a reload half-way, and ends as it was stored', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await page.getByRole('button', { name: /^Model/ }).click()
  await page
    .getByRole('menuitemradio', { name: /stub-gpt/ })
    .or(page.getByRole('menuitem', { name: /stub-gpt/ }))
    .click()
  await ask(page, 'How do the pieces fit together? [[stub tokens=300 hold=60]]')
  await page.getByRole('heading', { name: 'Section 1: how the pieces fit together' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Section 1: how the pieces fit together' }).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(0)
  await stub.release()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await expect.poll(() => page.getByRole('heading', { name: 'Section 1: how the pieces fit together' }).count()).toBe(1)
  const wanted = await stub.text(300)
  const headings = wanted.match(/^## .*$/gm) ?? []
  expect(
    await page
      .getByRole('heading', { level: 2 })
      .filter({ hasText: /^Section/ })
      .count(),
  ).toBe(headings.length)
})

test('a failed answer says why and can be tried again', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, 'Hello [[stub error=500]]')
  const failure = page.getByRole('article').getByText('had an error of its own (500)')
  await failure.waitFor()
  await page.getByRole('button', { name: /Retry|Try again/ }).click()
  await failure.waitFor({ state: 'detached' })
  await page.getByPlaceholder('Waiting for AI response...').waitFor()
  await failure.waitFor()
})

test('what was open is open again after a reload', async () => {
  const before = page.url()
  await page.reload()
  await page.getByRole('article').getByText('had an error of its own (500)').waitFor()
  expect(page.url()).toBe(before)
})

test.runIf(existsSync(REAL_PDF))('a real paper is uploaded, found and cited', async () => {
  await page.getByRole('button', { name: 'Files' }).click()
  await upload('dense-passage-retrieval.pdf', await readFile(REAL_PDF))
  await page.getByRole('button', { name: 'Chat', exact: true }).click()
  await expect.poll(() => page.getByText('2 documents indexed').count(), { timeout: 60_000 }).toBe(1)
  await page.getByRole('button', { name: /^Model/ }).click()
  await page
    .getByRole('menuitemradio', { name: /Alcove Reader/ })
    .or(page.getByRole('menuitem', { name: /Alcove Reader/ }))
    .click()
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, 'What top-20 accuracy does the dense retriever reach on Natural Questions compared to BM25?')
  await page
    .getByRole('button', { name: /Source 1: dense-passage-retrieval\.pdf page \d+/ })
    .first()
    .click()
  await expect.poll(() => markedText(page)).not.toBe('')
})

test('nothing of all that broke the content policy, threw, or called another host', () => {
  expect(opened.faults).toEqual([])
})
