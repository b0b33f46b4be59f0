/** A workbook of 100,000 rows and a text of 25 MB: opened, scrolled, and jumped into from an answer. */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectToFolder } from '#test/fill-conversation.ts'
import { makeSheetText } from '#test/make-sheet-text.ts'
import { markedText, scrollWithin } from './browser.ts'
import { openStage, type Stage, userIdOf } from './stage.ts'

const ROWS = 100_000
const CITED_ROW = 87_654
const EARLIER_ROW = 12_345
const SECTIONS = 8_700
const CITED_SECTION = 8_000
const MAX_NODES = 5_000

const WORKBOOK = randomUUID()
const BOOK = randomUUID()
const CONVERSATION = randomUUID()

let stage: Stage
let page: Page
let client: pg.Client

const ownerToSql = `(select id from auth.users where email = 'test@alcove.local')`
const insertDocument = (id: string, name: string, mimetype: string, pages: number) =>
  client.query(
    `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done, parsed_at)
     values ($1::text::uuid, ${ownerToSql}, $2, $2, $3, 1, $1, $1, 'ready', $4, $4, now())`,
    [id, name, mimetype, pages],
  )

const sentence = (section: number) => `The keeper of section ${section} trims the lamp.`

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  client = await connectToFolder(stage.dataDir)
  const { text, rows } = makeSheetText(ROWS)
  await insertDocument(WORKBOOK, 'lamps.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 1)
  await client.query(
    `insert into document_pages (document_id, owner, page, text, rows, columns) values ($1, ${ownerToSql}, 1, $2, $3, '[1, 2, 3]')`,
    [WORKBOOK, text, JSON.stringify(rows)],
  )
  await insertDocument(BOOK, 'keepers.txt', 'text/plain', SECTIONS)
  await client.query(
    `insert into document_pages (document_id, owner, page, text)
     select $1, ${ownerToSql}, n, format('The keeper of section %s trims the lamp.', n) || E'\\n\\n' || repeat('The night is long. ', 155)
     from generate_series(1, ${SECTIONS}) n`,
    [BOOK],
  )
  const citedRow = (number: number) => {
    const [start] = rows[number - 1] ?? [0]
    const end = text.indexOf('\n', start)
    return { documentId: WORKBOOK, filename: 'lamps.xlsx', page: 1, start, end, text: text.slice(start, end), score: 1 }
  }
  const sources = [
    { n: 1, ...citedRow(CITED_ROW) },
    { n: 2, documentId: BOOK, filename: 'keepers.txt', page: CITED_SECTION, start: 0, end: sentence(CITED_SECTION).length, text: sentence(CITED_SECTION), score: 1 },
    { n: 3, ...citedRow(EARLIER_ROW) },
  ] // prettier-ignore
  await stage.insert('conversations', [
    { id: CONVERSATION, uid: await userIdOf(page), title: 'Long ones', model_name: 'alcove-reader' },
  ])
  await stage.insert('messages', [
    {
      conversation_id: CONVERSATION,
      content: 'It is there [1], and there [2], and there [3].',
      sender_role: 2,
      metadata: { sources },
    },
  ])
  await page.goto(new URL(`/?chat=${CONVERSATION}`, page.url()).href)
})
afterAll(async () => {
  await client.end()
  await stage.close()
})

const countNodes = () => page.evaluate(() => document.querySelectorAll('*').length)
const openSource = (n: number) => page.locator(`[data-citation="${n}"]`).first().click()
const scrollTo = (share: number) => scrollWithin(page.locator('[data-section]'), share)
const row = (number: number) => page.getByRole('rowheader', { name: String(number), exact: true })

test('a citation opens a row of 100,000 in view, marked', async () => {
  await openSource(1)
  await expect.poll(() => markedText(page)).toContain(`Lamp ${CITED_ROW}`)
  await expect.poll(async () => (await row(CITED_ROW).boundingBox())?.y ?? -1).toBeGreaterThan(100)
  expect((await row(CITED_ROW).boundingBox())?.y).toBeLessThan(700)
  await page.getByText(`Cited: A${CITED_ROW}:C${CITED_ROW}`).waitFor()
  expect(await countNodes()).toBeLessThan(MAX_NODES)
})

test('a citation of a row in another part of the open sheet shows it, marked', async () => {
  await openSource(3)
  await expect.poll(() => markedText(page)).toContain(`Lamp ${EARLIER_ROW}`)
  await expect.poll(async () => (await row(EARLIER_ROW).boundingBox())?.y ?? -1).toBeGreaterThan(100)
  await page.getByText(`Cited: A${EARLIER_ROW}:C${EARLIER_ROW}`).waitFor()
})

test('rows of the sheet are requested near the view only', async () => {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.endsWith('/pages/1')) asked.push(search)
  })
  await scrollTo(0.5)
  await row(50_000).waitFor()
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.length).toBeLessThan(4)
  for (const search of asked) expect(search).toMatch(/^\?row=(?:49|50|51)000$/)
})

test('rows that could not be loaded are said, and requested again', async () => {
  const alert = page.getByRole('alert').filter({ hasText: 'Some rows could not be loaded' })
  await page.route('**/pages/1?row=*', (route) => route.abort())
  await scrollTo(0.25)
  await alert.waitFor()
  await page.unroute('**/pages/1?row=*')
  await alert.getByRole('button', { name: 'Try again' }).click()
  await row(25_000).waitFor()
  await alert.waitFor({ state: 'detached' })
})

test('the sheet is scrolled to both ends, with the names of its columns in view', async () => {
  await scrollTo(1)
  await row(ROWS).waitFor()
  await page.getByRole('columnheader', { name: 'C', exact: true }).waitFor()
  await scrollTo(0)
  await row(1).waitFor()
  expect(await countNodes()).toBeLessThan(MAX_NODES)
})

test('the print command of the browser has the loaded rows, and says that others are missing', async () => {
  const paper = page.locator('body > div', { hasText: 'Some of this document is missing here.' })
  // The first key of the command loads the code of printing.
  await page.keyboard.press('Control')
  await expect
    .poll(async () => {
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
      return paper.count()
    })
    .toBe(1)
  const rowOnPaper = (number: number) => paper.locator('th', { hasText: new RegExp(`^${number}$`) }).count()
  expect([await rowOnPaper(1), await rowOnPaper(25_000), await rowOnPaper(70_000)]).toEqual([1, 1, 0])
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
})

test('a citation opens a late section of a text of 25 MB', async () => {
  await openSource(2)
  await expect.poll(() => markedText(page)).toBe(sentence(CITED_SECTION))
  expect(await countNodes()).toBeLessThan(MAX_NODES)
})

test('a viewer whose code cannot be loaded says so, and opens after a reload', async () => {
  await page.goto(new URL(`/?chat=${CONVERSATION}`, page.url()).href)
  await page.route('**/assets/viewer-pane-*.js', (route) => route.abort())
  await openSource(2)
  await page.getByText('This page could not be shown').waitFor()
  await page.getByText('It is there').waitFor()
  await page.unroute('**/assets/viewer-pane-*.js')
  await page.getByRole('button', { name: 'Reload the page' }).click()
  await expect.poll(() => markedText(page)).toBe(sentence(CITED_SECTION))
})
