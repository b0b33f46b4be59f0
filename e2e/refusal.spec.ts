/** Where nothing in the documents answers, the Reader says so and shows the nearest passages apart. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { ask, markedText, openBrowser, openPage, signInWithTestAccount } from './browser.ts'

const LEASE = [
  'The lease of the mill in Alder Lane began in 2021 and is signed by the owner, Ada Marsh.',
  'The rent of the mill is due on the third day of each month.',
  'The tenant keeps the wheel of the mill in repair.',
].join('\n\n')

let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess
let browser: Browser
let page: Page

beforeAll(async () => {
  folder = await createDataDir()
  alcove = await startAlcove({ DATA_DIR: folder.dataDir, DEFAULT_MODEL: 'alcove-reader' })
  browser = await openBrowser()
  ;({ page } = await openPage(browser, alcove.url))
  await signInWithTestAccount(page)
  await page.getByRole('button', { name: 'Upload your first document' }).click()
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'lease.txt', mimeType: 'text/plain', buffer: Buffer.from(LEASE) })
  await page.getByText('Ready').first().waitFor()
})
afterAll(async () => {
  await browser.close()
  await alcove.end()
  await folder.remove()
})

const askInNewChat = async (question: string): Promise<void> => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, question)
}
const answer = () => page.getByRole('article').last()

test('what the documents say is quoted', async () => {
  await askInNewChat('When is the rent of the mill due?')
  await answer().getByText('due on the third day of each month').first().waitFor()
  await expect.poll(() => answer().innerText()).not.toContain('Nothing answers this')
})

test.each([
  ['What was the rent of the mill in 2012?', 'the year 2012 does not occur there'],
  ['How much does the owner of the mill in Denver pay for the wheel?', 'does not occur there'],
])('"%s" shows the nearest passages below a rule, with the reason, and they open', async (question, reason) => {
  await askInNewChat(question)
  await answer().getByText('Nothing answers this; the nearest passages are:').first().waitFor()
  await answer().getByText(reason).first().waitFor()
  const rule = answer().locator('hr')
  const quotes = answer().locator('blockquote')
  await rule.waitFor()
  const [ruleBox, quoteBox] = await Promise.all([rule.boundingBox(), quotes.first().boundingBox()])
  expect(quoteBox?.y).toBeGreaterThan(ruleBox?.y ?? Infinity)
  await expect.poll(() => answer().innerText()).not.toContain('language model')
  await answer()
    .getByRole('button', { name: /Source 1: lease\.txt/ })
    .first()
    .click()
  await expect.poll(() => markedText(page)).toContain('mill')
})

test.each([
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
])('it fits a window of $width by $height', async ({ width, height }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await askInNewChat('What was the rent of the mill in 2012?')
  await page.setViewportSize({ width, height })
  await answer().getByText('Nothing answers this; the nearest passages are:').first().waitFor()
  await answer().locator('blockquote').first().waitFor()
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  expect(overflow).toBeLessThanOrEqual(0)
})
