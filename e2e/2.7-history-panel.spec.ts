/** The list of conversations: its states, search, pinning and deleting (specification, sections 2.7, 4.1, 4.2). */
import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, showUnreadableList, type Stage, startChat, userIdOf } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
})
afterAll(() => stage.close())

const entry = (title: string): Locator => page.getByRole('listitem').filter({ hasText: title })
const section = (title: string): Locator => page.getByRole('region', { name: title, exact: true })
const rename = (id: string, title: string): Promise<void> =>
  page.evaluate(
    async ([address, body]) => {
      await fetch(address, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body })
    },
    [`/api/conversations/${id}`, JSON.stringify({ title })] as const,
  )

test('an empty list says so and offers to begin', async () => {
  await page.getByText('No conversations yet').waitFor()
  await page.getByText('Start a new chat to get started').waitFor()
  await page.getByRole('button', { name: 'New Chat', exact: true }).waitFor()
})

test('conversations appear with title, model name and time', async () => {
  await rename(await startChat(page, 'About bees'), 'Bees of the Alps')
  await entry('Bees of the Alps').waitFor()
  await rename(await startChat(page, 'About wasps'), 'Wasps of the valley')
  await entry('Wasps of the valley').waitFor()
  expect(await entry('Bees of the Alps').innerText()).toMatch(/stub-gpt\s+Today\s+\d+:\d\d [ap]m/)
  const moment = /^[A-Z][a-z]+ \d+, \d{4} at \d+:\d\d [AP]M$/
  expect(await entry('Bees of the Alps').getByTitle(moment).count()).toBe(1)
  expect(await page.getByRole('article', { name: 'Your message' }).getByTitle(moment).count()).toBe(1)
})

test('search takes title and model name, whatever the case', async () => {
  const search = page.getByPlaceholder('Search conversations...')
  await search.fill('BEES')
  await entry('Wasps').waitFor({ state: 'detached' })
  await expect.poll(() => entry('Bees').count()).toBe(1)
  await page.getByRole('button', { name: 'Clear search' }).click()
  await entry('Wasps').waitFor()
  await expect.poll(() => search.evaluate((box) => box === document.activeElement)).toBe(true)
  await search.fill('STUB-g')
  await entry('Wasps').waitFor()
  await search.fill('')
})

test('pinning moves an entry to its own section, and back', async () => {
  await entry('Bees').hover()
  await page.getByRole('button', { name: 'Pin Bees of the Alps' }).click()
  await page.getByText('The conversation has been pinned to the top', { exact: true }).waitFor()
  await section('Pinned Conversations').getByText('Bees of the Alps').waitFor()
  await entry('Bees').hover()
  await page.getByRole('button', { name: 'Unpin Bees of the Alps' }).click()
  await page.getByText('The conversation has been unpinned', { exact: true }).waitFor()
  await section('Pinned Conversations').waitFor({ state: 'detached' })
})

test('a pin that fails is told, and nothing moves', async () => {
  await page.route('**/conversations**', (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  )
  await entry('Bees').hover()
  await page.getByRole('button', { name: 'Pin Bees of the Alps' }).click()
  await page.getByText('Failed to pin conversation. Please try again.', { exact: true }).waitFor()
  await expect.poll(() => section('Pinned Conversations').count()).toBe(0)
  await page.unrouteAll()
})

test('Escape leaves the deletion dialog and returns the focus to where it was', async () => {
  await entry('Bees').getByRole('button').first().focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('alertdialog', { name: 'Delete Conversation' })
  await dialog.waitFor()
  expect(await dialog.innerText()).toContain(
    'Are you sure you want to delete this conversation? This action cannot be undone and all messages will be permanently removed.',
  )
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe('Delete Bees of the Alps')
})

test('a title that is too long for its line ends in dots before what can be done with it', async () => {
  const title = 'Wasps of the valley, of the hills behind it, and of the river between them'
  await rename(new URL(page.url()).searchParams.get('chat') ?? '', title)
  await entry(title).waitFor()
  await entry(title).hover()
  const words = await entry(title).getByText(title).boundingBox()
  const pin = await page.getByRole('button', { name: `Pin ${title}` }).boundingBox()
  expect(words?.width).toBeGreaterThan(100)
  expect((words?.x ?? 0) + (words?.width ?? 0)).toBeLessThanOrEqual(pin?.x ?? 0)
  await rename(new URL(page.url()).searchParams.get('chat') ?? '', 'Wasps of the valley')
  await entry(title).waitFor({ state: 'detached' })
})

test('deleting another conversation leaves the open one alone', async () => {
  const before = page.url()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('The conversation has been removed', { exact: true }).waitFor()
  await entry('Bees').waitFor({ state: 'detached' })
  expect(page.url()).toBe(before)
})

test('deleting the open conversation starts a new one', async () => {
  await entry('Wasps').hover()
  await page.getByRole('button', { name: 'Delete Wasps of the valley' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Starting a new conversation', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Welcome back!' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
})

test('a list that cannot be read offers to try again', async () => {
  await showUnreadableList(page, (route) => route.abort())
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('No conversations yet').waitFor()
  await page.unrouteAll()
})

test('the panel closes and opens again with its tab', async () => {
  await page.getByRole('button', { name: 'Collapse panel' }).click()
  await page.getByText('Chat History').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Chat', exact: true }).click()
  await page.getByText('Chat History').waitFor()
})

test('while the list of conversations is read it says so', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route(/\/rest\/v1\/conversations/, async (route) => {
    await promise
    await route.continue()
  })
  await page.reload()
  const status = page.getByRole('status').filter({ hasText: 'Loading conversations...' })
  await status.waitFor()
  expect(await status.locator('[class*=spinner]').count()).toBe(1)
  resolve(undefined)
  await status.waitFor({ state: 'detached' })
  await page.unrouteAll({ behavior: 'wait' })
})

test('metadata that outside programs wrote in another shape hides no conversation and no message', async () => {
  const id = randomUUID()
  const uid = await userIdOf(page)
  await stage.insert('conversations', [
    { id, uid, title: 'From elsewhere', model_name: 'stub-gpt', metadata: ['no object'] },
  ])
  const metadata = { sources: 'none', duration_ms: 'long' }
  await stage.insert('messages', [{ conversation_id: id, content: 'Said elsewhere', sender_role: 2, metadata }])
  await page.reload()
  await entry('From elsewhere').getByRole('button').first().click()
  await page.getByRole('article').getByText('Said elsewhere').waitFor()
})
