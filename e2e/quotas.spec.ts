/** A person who has reached a quota: what was written stays in the box, the other files are added, and Settings say how much is used. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, startChat, storeConversation, toastOf } from './stage.ts'

const FULL = 'Your conversations use 1.2 MB of 1 MB. Delete some to write more.'
const QUESTION = 'Where does the lamp stand?'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ environment: { QUOTA_FILES_MB: '1', QUOTA_TEXT_MB: '1' } })
  page = stage.page
})
afterAll(() => stage.close())

const openTab = (name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true }).click()
/** Stores 1.2 MB, in requests below the limit of a body; returns the id of the conversation. */
async function fill(title: string): Promise<string> {
  const { id } = await storeConversation(stage, title, ['x'.repeat(400_000)])
  for (const content of ['y', 'z'])
    await stage.insert('messages', [{ conversation_id: id, content: content.repeat(400_000), sender_role: 2 }])
  return id
}

const usage = () => page.getByRole('region', { name: 'Storage' })
const valueOf = (label: string) => usage().getByRole('progressbar', { name: label }).getAttribute('aria-valuenow')

test('a question that is refused stays in the box with the reason, and is sent once something was deleted', async () => {
  const chat = await startChat(page, 'Is there a lamp?')
  const filler = await fill('A long talk')
  const composer = composerOf(page)
  await composer.fill(QUESTION)
  await composer.press('Control+Enter')
  await toastOf(page).getByText(FULL).waitFor()
  expect(await composer.inputValue()).toBe(QUESTION)
  expect(await page.getByRole('main').getByText(QUESTION, { exact: true }).and(page.locator('p')).count()).toBe(0)
  expect(new URL(page.url()).searchParams.get('chat')).toBe(chat)

  await openTab('Settings')
  await usage().getByText('Conversations use 1.2 MB of 1 MB.').waitFor()
  await usage().getByText('Documents use less than 1 MB of 1 MB.').waitFor()
  expect(await valueOf('Conversations, space used')).toBe('100')

  const operator = await stage.connectOperator()
  const { error } = await operator.from('conversations').delete().eq('id', filler)
  expect(error).toBeNull()
  await openTab('Chat')
  await openTab('Settings')
  await usage().getByText('Conversations use less than 1 MB of 1 MB.').waitFor()
  await composer.press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).nth(1).waitFor()
  expect(await composer.inputValue()).toBe('')
})

test('a new chat that is refused keeps its question too', async () => {
  await fill('Another long talk')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  const composer = composerOf(page)
  await composer.fill(QUESTION)
  await composer.press('Control+Enter')
  await toastOf(page).getByText(FULL).first().waitFor()
  await expect.poll(() => composer.inputValue()).toBe(QUESTION)
})

test('of several files, the one without room says so and the others are added', async () => {
  await openTab('Files')
  const file = (name: string, bytes: number) => ({
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from(`${name} The lamp stands in the alcove. `.padEnd(bytes, 'The lamp stands. ')),
  })
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles([file('first.txt', 100_000), file('large.txt', 1_100_000), file('last.txt', 100_000)])
  const refused = page.getByRole('list', { name: 'Uploads' }).getByRole('listitem').filter({ hasText: 'large.txt' })
  await refused
    .getByText(/^"large\.txt" was not added\. Your documents use .* of 1 MB\. Delete some to upload more\.$/)
    .waitFor()
  expect(await refused.getAttribute('data-state')).toBe('failed')
  const files = page.getByRole('region', { name: 'Files' })
  for (const name of ['first.txt', 'last.txt'])
    await expect
      .poll(() =>
        files
          .getByRole('listitem')
          .filter({ has: page.getByText(name, { exact: true }) })
          .getAttribute('data-state'),
      )
      .toBe('ready')
  expect(await files.getByText('large.txt', { exact: true }).count()).toBe(0)
})
