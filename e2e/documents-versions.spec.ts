/** Actions on a stored document: newer versions, the processing report, the language of scans; wide and narrow. */
import { randomUUID } from 'node:crypto'
import type { Page, Response } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePdf } from '#test/make-pdf.ts'
import { drawText, makeScannedPdf } from '#test/make-scan.ts'
import { ask } from './browser.ts'
import { openStage, type Stage, storeConversation } from './stage.ts'

const OLD = 'The harbour office closes at five in the afternoon.'
const NEW = 'The harbour office closes at nine in the evening.'
const SCANNED = 'The pilot boat leaves the northern pier every morning when the tide has turned.'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ environment: { DEFAULT_MODEL: 'alcove-reader' } })
  page = stage.page
  // Intercepts file choosers from here on: intercepting at the press may be too late.
  page.on('filechooser', () => undefined)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
})
afterAll(() => stage.close())

const row = (name: string) =>
  page.getByRole('region', { name: 'Files' }).getByRole('listitem').filter({ hasText: name })
const reader = () => page.getByRole('region', { name: /^Reader: / })
const version = () => reader().getByRole('combobox', { name: 'Version' })
const chosen = () => version().locator('option:checked').innerText()
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
/** The label of the focused field. */
const focusedLabel = () => page.evaluate(() => document.activeElement?.closest('label')?.firstElementChild?.textContent)
const pdf = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/pdf', buffer })
const upload = (name: string, buffer: Buffer) =>
  page.getByLabel('Files to upload').first().setInputFiles(pdf(name, buffer))

/** The element is completely inside the window. */
async function expectInView(name: string): Promise<void> {
  const box = await page.getByLabel(name, { exact: true }).first().boundingBox()
  const width = await page.evaluate(() => innerWidth)
  expect(box).not.toBeNull()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
}

test('a newer version is added with the keyboard alone, and is what answers are found in', async () => {
  await upload('harbour.pdf', makePdf([OLD]))
  await expect.poll(() => row('harbour.pdf').getAttribute('data-state')).toBe('ready')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, 'When does the harbour office close?')
  await page
    .getByRole('button', { name: /Source 1: harbour\.pdf/ })
    .first()
    .waitFor()

  await row('harbour.pdf').getByRole('button', { name: 'Rename harbour.pdf' }).focus()
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Add a newer version of harbour.pdf')
  const choosing = page.waitForEvent('filechooser')
  await page.keyboard.press('Enter')
  await (await choosing).setFiles(pdf('harbour 2026.pdf', makePdf([NEW])))
  await row('harbour.pdf').getByText('Version 2').waitFor()
  await expect.poll(() => row('harbour.pdf').getAttribute('data-state')).toBe('ready')
  await expect.poll(() => row('harbour').count()).toBe(1)

  await ask(page, 'When does the harbour office close now?')
  await page.getByText('at nine in the evening').first().waitFor()
})

test('the source of an older answer opens the version that it cites, and leads to the newest', async () => {
  await page
    .getByText(/in version 1; a newer one is searched now/)
    .first()
    .waitFor()
  await page
    .getByRole('button', { name: /Source 1: harbour\.pdf/ })
    .first()
    .click()
  await reader().getByText('A newer version is searched now.').waitFor()
  expect(await chosen()).toMatch(/^1, /)
  await reader().getByText(OLD).waitFor()

  await reader().getByRole('button', { name: 'Open version 2' }).press('Enter')
  await reader().getByText(NEW).waitFor()
  expect(await chosen()).toMatch(/^2, /)
  expect(await reader().getByText('A newer version is searched now.').count()).toBe(0)

  await version().focus()
  await page.keyboard.press('ArrowDown')
  await reader().getByText(OLD).waitFor()
  expect(await focusedLabel()).toBe('Version')
  await page.getByRole('button', { name: 'Close document' }).click()
})

test('arrow keys in the field of versions choose a version, not another source', async () => {
  const { data: first } = await (
    await stage.connectOperator()
  )
    .from('documents')
    .select('id')
    .eq('version', 1)
    .single<{ id: string }>()
  const sources = [1, 2].map((n) => ({
    n,
    documentId: first?.id,
    filename: 'harbour.pdf',
    page: 1,
    start: 0,
    end: OLD.length,
    text: OLD,
    score: 1,
  }))
  const { id } = await storeConversation(stage, 'Harbour office', [])
  await stage.insert('messages', [
    {
      id: randomUUID(),
      conversation_id: id,
      content: 'At five [1], as said [2].',
      sender_role: 2,
      metadata: { sources },
    },
  ])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await page
    .getByRole('button', { name: /Source 1: harbour\.pdf/ })
    .first()
    .click()
  await reader().getByText(OLD).waitFor()
  await reader().getByText('1 of 2').waitFor()
  await version().focus()
  await page.keyboard.press('ArrowLeft')
  await reader().getByText(NEW).waitFor()
  await page.getByRole('button', { name: 'Close document' }).click()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
})

test('a file that is already there is refused as a newer version, with the reason', async () => {
  await row('harbour.pdf')
    .getByLabel('Newer version of harbour.pdf', { exact: true })
    .setInputFiles(pdf('harbour.pdf', makePdf([OLD])))
  await page
    .getByText(/is the same file as version 1 of this document/)
    .first()
    .waitFor()
})

test('how a document was read is told page by page, opened and closed with the keyboard', async () => {
  const picture = await drawText(SCANNED)
  await upload('survey.pdf', makeScannedPdf([{ text: 'A page of text. '.repeat(20) }, { picture }]))
  await expect.poll(() => row('survey.pdf').getAttribute('data-state'), { timeout: 60_000 }).toBe('ready')
  const remarks = row('survey.pdf').getByRole('button', { name: /^How survey\.pdf was read: 1 of 2 pages by text/ })
  await remarks.focus()
  await page.keyboard.press('Enter')
  const report = page.getByRole('dialog', { name: 'How survey.pdf was read' })
  await report.getByText('2 of 2 pages').waitFor()
  await report.getByText(/^Page 2, \d+% confidence$/).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => report.count()).toBe(0)
  await expect.poll(focused).toMatch(/^How survey\.pdf was read/)
})

test('the language of scans is chosen, and kept', async () => {
  const language = () => page.getByLabel('Language of scans')
  const settings = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' })
  await settings.click()
  await language().waitFor()
  // Other writes, such as what has been read, may be answered meanwhile.
  const isSaved = (response: Response) =>
    response.url().includes('/rest/v1/user_settings') && response.request().method() !== 'GET'
  const [saved] = await Promise.all([page.waitForResponse(isSaved), language().selectOption('German')])
  expect(saved.ok()).toBe(true)
  await page.reload()
  await settings.click()
  await expect.poll(() => language().inputValue()).toBe('deu')
})

test('on a telephone the same is within reach', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('dialog', { name: 'Navigation' }).getByRole('button', { name: 'Files', exact: true }).click()
  await expectInView('Add a newer version of harbour.pdf')
  await row('survey.pdf')
    .getByRole('button', { name: /^How survey/ })
    .click()
  await page.getByRole('dialog', { name: 'How survey.pdf was read' }).getByText('2 of 2 pages').waitFor()
  await expectInView('How survey.pdf was read')
  await page.keyboard.press('Escape')
  await row('harbour.pdf').getByRole('button', { name: 'harbour.pdf', exact: true }).click()
  await reader().getByText(NEW).waitFor()
  await version().selectOption({ index: 1 })
  await reader().getByText(OLD).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})
