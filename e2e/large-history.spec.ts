/** The history panel with as many conversations as people have after years. */
import { randomUUID } from 'node:crypto'
import { AxeBuilder } from '@axe-core/playwright'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, type Stage, userIdOf } from './stage.ts'

const COUNT = 10_000
const ROWS_OF_FIRST_READ = 50
const MAX_NODES = 3_000
const DAY_MS = 86_400_000

let stage: Stage
let page: Page
let userId: string

const name = (age: number): string => `Talk ${String(age).padStart(5, '0')}`
const conversation = (title: string, startedAt: number) => ({
  id: randomUUID(),
  uid: userId,
  title,
  model_name: 'alcove-reader',
  started_at: new Date(startedAt).toISOString(),
  metadata: { filled: 'm'.repeat(500) },
})

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  userId = await userIdOf(page)
  await page.goto('about:blank')
  const rows = Array.from({ length: COUNT }, (_, age) => conversation(name(age), Date.now() - age * DAY_MS))
  for (let at = 0; at < COUNT; at += 1_000) await stage.insert('conversations', rows.slice(at, at + 1_000))
})
afterAll(() => stage.close())

const entry = (title: string): Locator => page.getByRole('listitem').filter({ hasText: title })
const panel = (): Locator => page.getByRole('region', { name: 'Chat history' })
const list = (): Locator => panel().locator('[tabindex="-1"]')
const scrollBy = (pixels: number): Promise<void> =>
  list().evaluate((element, by) => {
    element.scrollTop += by
  }, pixels)

/** Scrolls as far as the loaded rows go, again and again. */
async function scrollToEnd(): Promise<void> {
  await expect
    .poll(
      async () => {
        await list().evaluate((element) => {
          element.scrollTop = element.scrollHeight
        })
        return entry(name(COUNT - 1)).count()
      },
      { timeout: 120_000, interval: 50 },
    )
    .toBe(1)
}

test('opens with a read of the newest, and few elements', async () => {
  const reads: string[] = []
  page.on('request', (request) => {
    if (/\/(rest\/v1\/conversations|api\/users\/)/.test(request.url())) reads.push(request.url())
  })
  const answer = page.waitForResponse(/\/rest\/v1\/conversations/)
  await page.goto(stage.alcove.url)
  await entry(name(0)).waitFor()
  const rows = (await (await answer).json()) as unknown[]
  expect(rows).toHaveLength(ROWS_OF_FIRST_READ)
  expect(JSON.stringify(rows)).not.toContain('mmm')
  await page.waitForLoadState('networkidle')
  // On a busy machine live changes begin so late that a second read catches up with them.
  expect(reads.length).toBeLessThanOrEqual(2)
  expect(reads.filter((address) => new URL(address).searchParams.get('limit') !== `${ROWS_OF_FIRST_READ}`)).toEqual([])
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(MAX_NODES)
})

test('search finds the oldest', async () => {
  const search = page.getByPlaceholder('Search conversations...')
  await search.fill(name(COUNT - 1).toUpperCase())
  await entry(name(COUNT - 1)).waitFor()
  await expect.poll(() => panel().getByRole('listitem').count()).toBe(1)
  await search.fill('talk 0500')
  await entry(name(5_009)).waitFor()
  await expect.poll(() => panel().getByRole('listitem').count()).toBe(10)
  await page.getByRole('button', { name: 'Clear search' }).click()
  await entry(name(0)).waitFor()
})

test('an insert, a pin and a deletion above the view do not move what is in it', async () => {
  await scrollBy(1_500)
  await entry(name(28)).waitFor()
  const topOf = async (title: string) => Math.round((await entry(title).boundingBox())?.y ?? 0)
  await expect.poll(() => topOf(name(28))).toBeGreaterThan(0)
  const before = await topOf(name(28))
  await stage.insert('conversations', [conversation('Just now', Date.now() + DAY_MS)])
  // The next row of the same kind shows that the first one has arrived.
  await expect.poll(() => list().evaluate((element) => element.querySelectorAll('section').length)).toBe(1)
  await page.evaluate(
    async (id) => {
      await fetch(`/api/conversations/${id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ pinned: true }),
      })
    },
    await page.evaluate(async (user) => {
      const listed = (await (await fetch(`/api/users/${user}/conversations?listed=true&limit=2`)).json()) as {
        id: string
      }[]
      return listed[1]?.id ?? ''
    }, userId),
  )
  await page.getByRole('region', { name: 'Pinned Conversations' }).waitFor({ state: 'attached' })
  expect(Math.abs((await topOf(name(28))) - before)).toBeLessThanOrEqual(1)
  await scrollBy(-10_000)
  await entry('Just now').waitFor()
  await page.getByRole('region', { name: 'Pinned Conversations' }).getByText(name(0)).waitFor()
})

test('the end can be reached, pinned and deleted', async () => {
  await scrollToEnd()
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(MAX_NODES)
  const last = entry(name(COUNT - 1))
  await last.hover()
  await page.getByRole('button', { name: `Delete ${name(COUNT - 1)}` }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('The conversation has been removed', { exact: true }).waitFor()
  await last.waitFor({ state: 'detached' })
  await entry(name(COUNT - 2)).hover()
  await page.getByRole('button', { name: `Pin ${name(COUNT - 2)}` }).click()
  await page.getByText('The conversation has been pinned to the top', { exact: true }).waitFor()
  await scrollBy(-10_000_000)
  await page
    .getByRole('region', { name: 'Pinned Conversations' })
    .getByText(name(COUNT - 2))
    .waitFor()
})

test('the keyboard walks through rows that were not drawn, and opens one', async () => {
  await entry(name(1)).getByRole('button').first().focus()
  // Each row has three buttons.
  for (let press = 0; press < 3 * 40; press += 1) await page.keyboard.press('Tab')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent ?? '')).toContain(name(41))
  await page.keyboard.press('Enter')
  await expect.poll(() => entry(name(41)).locator('[aria-current=true]').count()).toBe(1)
  expect(new URL(page.url()).searchParams.get('chat')).not.toBeNull()
})

test('the row with the focus stays while the list is scrolled away from it', async () => {
  const row = entry(name(41)).getByRole('button').first()
  await row.focus()
  await scrollBy(30_000)
  await entry(name(41)).waitFor({ state: 'attached' })
  expect(await row.evaluate((element) => element === document.activeElement)).toBe(true)
})

test('has no violations of accessibility', async () => {
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([])
})

test('another person sees none of them', async () => {
  const other = await stage.browser.newContext()
  const response = await other.request.get(
    `${stage.alcove.url}/api/users/${userId}/conversations?listed=true&search=talk`,
  )
  expect(response.status()).toBe(401)
  await other.close()
})
