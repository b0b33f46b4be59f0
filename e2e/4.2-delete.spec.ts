/** Deleting a conversation, the open one too (specification, section 4.2). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, storeConversation, toastOf } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await storeConversation(stage, 'Bees', ['They hum.'])
  await storeConversation(stage, 'Wasps', ['They sting.'])
  await entry('Wasps').getByRole('button').first().click()
  await page.getByText('They sting.').waitFor()
})
afterAll(() => stage.close())

const entry = (title: string) => page.getByRole('listitem').filter({ hasText: title })
const dialog = () => page.getByRole('alertdialog', { name: 'Delete Conversation' })
const toast = () => toastOf(page)

async function ask(title: string): Promise<void> {
  await entry(title).hover()
  await page.getByRole('button', { name: `Delete ${title}` }).click()
  await dialog().waitFor()
}

test('it is asked for first, and Cancel leaves everything as it was', async () => {
  await ask('Bees')
  expect(await dialog().getByRole('button').allInnerTexts()).toEqual(['Cancel', 'Delete'])
  await dialog().getByRole('button', { name: 'Cancel' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await entry('Bees').count()).toBe(1)
})

test('one that is not open leaves the list and says so', async () => {
  await ask('Bees')
  await dialog().getByRole('button', { name: 'Delete' }).click()
  await toast().getByText('Conversation deleted', { exact: true }).waitFor()
  await toast().getByText('The conversation has been removed', { exact: true }).waitFor()
  await expect.poll(() => entry('Bees').count()).toBe(0)
  await page.getByText('They sting.').waitFor()
})

test('the open one clears the thread and its ids, and a new conversation begins', async () => {
  await page.keyboard.press('Control+Shift+D')
  const panel = page.getByRole('region', { name: 'Broadcast Testing Panel' })
  const idOf = (name: string) => panel.locator('dt', { hasText: name }).locator('+ dd').innerText()
  expect(await idOf('External id')).toMatch(/^[\da-f-]{36}$/)
  await ask('Wasps')
  await dialog().getByRole('button', { name: 'Delete' }).click()
  await toast().getByText('Chat deleted', { exact: true }).waitFor()
  await toast().getByText('Starting a new conversation', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Welcome back!' }).waitFor()
  expect(await page.getByRole('article').count()).toBe(0)
  expect([await idOf('Active chat id'), await idOf('External id')]).toEqual(['none', 'none'])
  expect(new URL(page.url()).search).toBe('')
  await composerOf(page).waitFor()
  await page.reload()
  await page.getByText('No conversations yet').waitFor()
})
