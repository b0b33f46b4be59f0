/** Questions about the library itself, on a wide screen and on a phone: exact numbers, and names that open the documents. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeWorkbook } from '#test/make-workbook.ts'
import { markedText } from './browser.ts'
import { composerOf, openStage, startChat, type Stage } from './stage.ts'

let stage: Stage
let page: Page

const FILES = [
  { name: 'lease_mill-lane.txt', mimeType: 'text/plain', buffer: Buffer.from('The deposit is two monthly rents.') },
  { name: '敷金.txt', mimeType: 'text/plain', buffer: Buffer.from('借主は貸主に二か月分の敷金を支払います。') },
  {
    name: 'budget.xlsx',
    mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    buffer: makeWorkbook([
      {
        name: 'Budget',
        rows: [
          ['Item', 'Amount'],
          ['Harbour', 12],
        ],
      },
    ]),
  },
  { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\nnothing of a document\n%%EOF') },
]

const rail = (on: Page, name: string) =>
  on.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
const lastAnswer = (on: Page) => on.getByRole('article', { name: 'Answer' }).last()

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await rail(page, 'Files').click()
  const files = page.getByRole('region', { name: 'Files' })
  await page.getByLabel('Files to upload').first().setInputFiles(FILES)
  for (const { name } of FILES)
    await files
      .getByRole('listitem')
      .and(page.locator(name === 'broken.pdf' ? '[data-state=failed]' : '[data-state=ready]'))
      .filter({ hasText: name })
      .waitFor()
  await rail(page, 'Chat').click()
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await page.getByRole('button', { name: /^Model: / }).click()
  await page.getByRole('menuitemradio', { name: /Alcove Reader/ }).click()
})
afterAll(() => stage.close())

async function ask(question: string): Promise<void> {
  const answered = await page.getByRole('button', { name: 'Good answer' }).count()
  await composerOf(page).fill(question)
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).nth(answered).waitFor()
}

test('the Reader counts the documents and says which could not be read, and why', async () => {
  await startChat(page, 'How many documents do I have?')
  expect(await lastAnswer(page).innerText()).toContain('You have 4 documents: 3 can be searched, 1 could not be read.')
  await ask('And which of them could not be read?')
  const item = lastAnswer(page).getByRole('listitem').filter({ hasText: 'broken.pdf' })
  expect(await item.innerText()).toMatch(/broken\.pdf: This file is damaged/)
})

test('a name opens its document, on a wide screen and on a phone', async () => {
  await ask('Which documents are in Japanese?')
  const item = lastAnswer(page).getByRole('listitem').filter({ hasText: '敷金.txt' })
  await item.locator('[data-citation]').click()
  await expect.poll(() => markedText(page)).toContain('借主は貸主に二か月分の敷金')
  await page.goBack()
  await page.setViewportSize({ width: 390, height: 844 })
  await ask('Welche meiner Dateien sind Excel-Tabellen?')
  const answer = lastAnswer(page)
  expect(await answer.innerText()).toContain('1 of your 4 documents')
  const sheet = answer.getByRole('listitem').filter({ hasText: 'budget.xlsx' })
  const box = await sheet.boundingBox()
  expect((box?.x ?? 0) + (box?.width ?? 1_000)).toBeLessThanOrEqual(390)
  await sheet.locator('[data-citation]').click()
  await expect.poll(() => page.url()).toMatch(/[?&]doc=/)
})
