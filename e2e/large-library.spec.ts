/** A library of 10,000 documents: the page reads and draws what is near the view. */
import { AxeBuilder } from '@axe-core/playwright'
import type pg from 'pg'
import type { Page, Response } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { connectToFolder } from '#test/fill-conversation.ts'
import { signInWithTestAccount, scrollWithin } from './browser.ts'
import { openStage, type Stage } from './stage.ts'

const COUNT = 10_000
const DRAFTS = 250

let stage: Stage
let page: Page
let client: pg.Client

/** Stores ready documents; the last one is the oldest. */
async function store(names: readonly string[], uploadedAt = 'now()'): Promise<void> {
  await client.query(
    `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done, uploaded_at)
     select u.id, name, name, 'text/plain', 300, gen_random_uuid(), gen_random_uuid(), 'ready', 1, 1,
       ${uploadedAt} - n * interval '1 minute'
     from auth.users u, unnest($1::text[]) with ordinality as given (name, n) where u.email = 'test@alcove.local'`,
    [names],
  )
}

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
  page = stage.page
  client = await connectToFolder(stage.dataDir)
  await store(
    Array.from({ length: COUNT }, (_, index) =>
      index >= COUNT - DRAFTS ? `Draft ${index}.txt` : `Paper ${index}.txt`,
    ),
    `timestamptz '2026-01-01'`,
  )
  await client.query('analyze documents')
  await signInWithTestAccount(page)
})
afterAll(async () => {
  await client.end()
  await stage.close()
})

const files = () => page.getByRole('region', { name: 'Files' })
const rows = () => files().getByRole('listitem')
const row = (name: string) => rows().filter({ has: page.getByText(name, { exact: true }) })
const filter = () => files().getByLabel('Filter documents by name')
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

const scrollTo = (share: number) => scrollWithin(rows(), share)

test('it opens with one page of rows and few nodes', async () => {
  // Answers to the page before cannot be read any more, so they are collected once its successor has taken over.
  await page.reload({ waitUntil: 'commit' })
  const answers: Response[] = []
  const collect = (response: Response) => {
    if (/^\/(rest\/v1|api)\/documents/.test(new URL(response.url()).pathname)) answers.push(response)
  }
  page.on('response', collect)
  onTestFinished(() => void page.off('response', collect))
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await row('Paper 0.txt').waitFor()
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  expect(nodes).toBeLessThan(3000)
  const lists = answers.filter((response) => response.url().includes('uploaded_at'))
  expect(lists).toHaveLength(1)
  const bodies = await Promise.all(answers.map((response) => response.body()))
  expect(bodies.reduce((sum, body) => sum + body.length, 0)).toBeLessThan(100_000)
})

test('the filter finds the oldest one, and the order by name its place among all', async () => {
  await filter().fill('DRAFT 9999')
  await row('Draft 9999.txt').waitFor()
  await expect.poll(() => rows().count()).toBe(1)
  await filter().fill('')
  await files().getByRole('button', { name: 'Sort by name' }).click()
  await row('Draft 9750.txt').waitFor()
  await files().getByRole('button', { name: 'Sort by date' }).click()
  await row('Paper 0.txt').waitFor()
})

test('an insert while the list is scrolled moves nothing in view', async () => {
  await scrollTo(0.5)
  await expect.poll(() => row('Paper 40.txt').count()).toBe(1)
  const seen = row('Paper 40.txt')
  const place = async () => ({
    y: Math.round((await seen.boundingBox())?.y ?? -1),
    index: Number(await seen.getAttribute('aria-posinset')),
  })
  const before = await place()
  await store(['New.txt'])
  await expect.poll(async () => (await place()).index).toBe(before.index + 1)
  expect((await place()).y).toBe(before.y)
  await scrollTo(0)
  await row('New.txt').waitFor()
})

test('many are selected with the keyboard alone, also rows that are not drawn or loaded', async () => {
  await files().getByRole('button', { name: 'Select', exact: true }).press('Enter')
  await expect.poll(focused).toBe('Select New.txt')
  for (let press = 0; press < 130; press += 1) await page.keyboard.press('Shift+ArrowDown')
  await expect.poll(focused).toBe('Select Paper 129.txt')
  await files().getByText('131 selected').waitFor()
  expect(await row('Paper 0.txt').count()).toBe(0)
  // The row with the focus stays while the list is scrolled elsewhere, and the next one is drawn for it.
  await scrollTo(0)
  await row('Paper 0.txt').waitFor()
  await page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('Select Paper 130.txt')
  await page.keyboard.press('Control+a')
  await files()
    .getByText(`${COUNT + 1} selected`)
    .waitFor()
  await page.keyboard.press('Delete')
  const dialog = page.getByRole('alertdialog', { name: 'Delete Documents' })
  await dialog.getByText(`these ${COUNT + 1} documents`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('Control+a')
  await files().getByText('None selected').waitFor()
  await files().getByRole('button', { name: 'Done' }).click()
})

test('all that match are deleted, not only those that are loaded', async () => {
  await filter().fill('draft')
  await row('Draft 9750.txt').waitFor()
  await files().getByRole('button', { name: 'Select', exact: true }).click()
  await files().getByRole('button', { name: 'All', exact: true }).click()
  await files().getByText(`${DRAFTS} selected`).waitFor()
  await files().getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Delete Documents' })
  await dialog.getByText(`these ${DRAFTS} documents`).waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText(`${DRAFTS} documents are gone.`, { exact: true }).waitFor()
  const { rows: left } = await client.query<{ count: number }>('select count(*)::int as count from documents')
  expect(left[0]?.count).toBe(COUNT + 1 - DRAFTS)
  await filter().fill('')
})

test('it is scrolled to its end, where a document is deleted', async () => {
  const last = COUNT - DRAFTS - 1
  await expect
    .poll(
      async () => {
        await scrollTo(1)
        return row(`Paper ${last}.txt`).count()
      },
      { timeout: 120_000 },
    )
    .toBe(1)
  expect(await rows().last().getAttribute('aria-setsize')).toBe(`${last + 2}`)
  await row(`Paper ${last}.txt`)
    .getByRole('button', { name: `Delete Paper ${last}.txt` })
    .click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => row(`Paper ${last}.txt`).count()).toBe(0)
  await row(`Paper ${last - 1}.txt`).waitFor()
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3000)
})

test('it has no violations of accessibility, with and without selected rows', async () => {
  const violations = async () => {
    const { violations: broken } = await new AxeBuilder({ page }).setLegacyMode().analyze()
    return broken.map(({ id }) => id)
  }
  expect(await violations()).toEqual([])
  await scrollTo(0)
  await files().getByRole('button', { name: 'Select', exact: true }).click()
  await files().getByRole('checkbox').first().check()
  expect(await violations()).toEqual([])
})
