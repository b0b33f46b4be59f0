/** Spaces of one person: made in two steps, with their own documents, conversations, settings and address. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collectErrors } from './browser.ts'
import { addDocument, makeSpace, spaceButton, switchTo } from './spaces.ts'
import { composerOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

let stage: Stage
let page: Page
let errors: readonly string[]

beforeAll(async () => {
  stage = await openStage({ environment: { DEFAULT_MODEL: 'alcove-reader' } })
  page = stage.page
  errors = collectErrors(page)
})
afterAll(() => stage.close())

const button = (name: string) => page.getByRole('button', { name, exact: true })
const tab = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
const spaceInAddress = () => new URL(page.url()).searchParams.get('space')

test('a new space takes its documents in a second step, and answers from them alone', async () => {
  await page.evaluate(async () => {
    const form = new FormData()
    form.append('files', new File(['The lamp of the attic burns until dawn.'], 'attic.txt', { type: 'text/plain' }))
    await fetch('/api/documents', { method: 'POST', body: form })
  })
  await makeSpace(page, 'Harbour')
  await addDocument(page, 'harbour.txt', 'The lamp of the harbour burns until midnight in winter.')
  await page.getByRole('dialog').getByText('Step 2 of 2').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  expect(spaceInAddress()).not.toBeNull()
  await page.getByText('1 document indexed').waitFor()
  const documents = page.getByRole('region', { name: 'Documents' })
  await documents.getByText('harbour.txt').waitFor()
  expect(await page.getByText('attic.txt').count()).toBe(0)
  await startChat(page, 'Until when does the lamp burn?')
  await page.getByText('Source: harbour.txt').first().waitFor()
  expect(await page.getByText('Source: attic.txt').count()).toBe(0)
  await page.getByText('only you see it').waitFor()
})

test('with “and my own documents” the same question is answered from both, which the question and its trace show', async () => {
  const own = page.getByRole('switch', { name: 'and my own documents' })
  expect(await own.getAttribute('aria-checked')).toBe('false')
  await own.click()
  await composerOf(page).fill('Until when does the lamp of the attic burn?')
  await composerOf(page).press('Control+Enter')
  await page.getByText('own documents too').waitFor()
  await page.getByText('Source: attic.txt').first().waitFor()
  await page.getByText('How this was answered').nth(1).click()
  await page.getByText('Searched the documents of the space “Harbour” and your own.').first().waitFor()
  await page.reload()
  await page.getByText('own documents too').waitFor()
  expect(await own.getAttribute('aria-checked')).toBe('false')
})

test('history, files and counts show the current space, whose address can be opened', async () => {
  const address = page.url()
  await switchTo(page, 'Personal')
  await expect.poll(spaceInAddress).toBeNull()
  expect(new URL(page.url()).searchParams.get('chat')).toBeNull()
  await page.getByText('No conversations yet').waitFor()
  await tab('Files').click()
  await page.getByRole('region', { name: 'Library' }).getByText('attic.txt').waitFor()
  await switchTo(page, 'Harbour')
  await page.getByRole('region', { name: 'Library' }).getByText('harbour.txt').waitFor()
  expect(await page.getByText('attic.txt').count()).toBe(0)
  await tab('Chat').click()
  // Without the space, the address of a conversation leads to it too.
  const bare = new URL(address)
  bare.searchParams.delete('space')
  await page.goto(bare.href)
  await page.getByText('only you see it').waitFor()
  await expect.poll(spaceInAddress).toBe(new URL(address).searchParams.get('space'))
  await spaceButton(page, 'Harbour').waitFor()
})

test('the palette searches the space, on request everything, and goes to another', async () => {
  await page.keyboard.press('Control+k')
  const box = page.getByRole('combobox', { name: 'Search and commands' })
  await box.fill('attic')
  const found = page.getByRole('option', { name: /attic\.txt/ })
  await page.getByRole('switch', { name: 'all spaces' }).waitFor()
  expect(await found.count()).toBe(0)
  await page.getByRole('switch', { name: 'all spaces' }).click()
  await found.first().waitFor()
  await box.fill('Go to Personal')
  await page.getByRole('option', { name: 'Go to Personal' }).click()
  await expect.poll(spaceInAddress).toBeNull()
})

test('a document and a conversation move to another space', async () => {
  await tab('Files').click()
  await page.getByRole('region', { name: 'Library' }).getByRole('button', { name: 'Move attic.txt' }).click()
  await page.getByRole('menuitem', { name: 'Harbour' }).click()
  await toastOf(page).getByText('“attic.txt” is in “Harbour” now.').waitFor()
  await expect.poll(() => page.getByRole('region', { name: 'Library' }).getByText('attic.txt').count()).toBe(0)
  await switchTo(page, 'Harbour')
  await page.getByRole('region', { name: 'Library' }).getByText('attic.txt').waitFor()
  await tab('Chat').click()
  await page
    .getByRole('region', { name: 'Chat history' })
    .getByRole('listitem')
    .first()
    .getByRole('button')
    .first()
    .click()
  await button('Share or move conversation').click()
  await page.getByRole('menuitem', { name: 'Move to' }).press('ArrowRight')
  await page.getByRole('menuitem', { name: 'Personal' }).click()
  await toastOf(page).getByText('is in Personal now').waitFor()
  await expect.poll(spaceInAddress).toBeNull()
})

test('instructions, name and colour are changed in the settings, archiving closes the composer, deleting asks for the name', async () => {
  await switchTo(page, 'Harbour')
  await tab('Settings').click()
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Answer like a lighthouse keeper.')
  await page.getByRole('form', { name: 'Instructions' }).getByRole('button', { name: 'Save' }).click()
  await page.getByRole('main').getByText('Answer like a lighthouse keeper.').waitFor()
  await button('Change the name').click()
  await page.getByRole('form', { name: 'Name of the space' }).getByLabel('Name').fill('Old harbour')
  await page.getByRole('form', { name: 'Name of the space' }).getByRole('button', { name: 'Save' }).click()
  await spaceButton(page, 'Old harbour').waitFor()
  await composerOf(page).fill('Half a question')
  await button('Archive this space').click()
  await page.getByText('“Old harbour” is archived. It can be read, and nothing is added to it.').waitFor()
  expect(await composerOf(page).inputValue()).toBe('Half a question')
  expect(await button('Send message').isDisabled()).toBe(true)
  await button('Take back into use').click()
  await expect.poll(() => button('Send message').isDisabled()).toBe(false)
  await button('Delete this space').click()
  const dialog = page.getByRole('dialog', { name: 'Delete Space' })
  expect(await dialog.getByRole('button', { name: 'Delete everything in it' }).isDisabled()).toBe(true)
  await dialog.getByLabel('To confirm, type Old harbour').fill('old harbour')
  await dialog.getByRole('button', { name: 'Delete everything in it' }).click()
  await toastOf(page).getByText('You are no longer in “Old harbour”').waitFor()
  await expect.poll(spaceInAddress).toBeNull()
  expect(await composerOf(page).inputValue()).toBe('Half a question')
})

test('an address of a space that is not there leads to Personal and says so', async () => {
  await page.goto(`${stage.alcove.url}/?space=${crypto.randomUUID()}`)
  await toastOf(page).getByText('This space is not there').waitFor()
  await expect.poll(spaceInAddress).toBeNull()
  expect(errors.filter((message) => !message.includes('Failed to load resource'))).toEqual([])
})
