/** Sources of an answer: narrowed, checked, traced and opened, on a wide screen and on a phone. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { markedText } from './browser.ts'
import { composerOf, openStage, startChat, storeConversation, type Stage } from './stage.ts'

const FILES = {
  'Lease.txt': 'The notice period is three months.\n\nThe deposit is two monthly rents.',
  'House rules.txt': 'The notice period for a party is one day.',
  'Letter.txt': 'The landlord writes that the notice period is one week.',
}
const ANSWER = `It is “two monthly rents” [1], and the lease says “not a day longer” [1].

> The notice period is a whole year. [2]`

const QUESTION = 'Of which notice period and deposit, in monthly rents, do they write?'

let stage: Stage
let page: Page
let conversationId: string

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await rail('Files').click()
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles(
      Object.entries(FILES).map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })),
    )
  for (const name of Object.keys(FILES))
    await files().getByRole('listitem').and(page.locator('[data-state=ready]')).filter({ hasText: name }).waitFor()
})
afterAll(() => stage.close())

const rail = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
const files = () => page.getByRole('region', { name: 'Files' })
const answerOn = (on: Page) => on.getByRole('article', { name: 'Answer' }).last()
const askedModel = async () => JSON.stringify(await stage.stub.lastRequest())

test('documents that are selected in the library are the only ones searched', async () => {
  await stage.stub.configure({ words: 'Three months [1], or a day [2].' })
  await files().getByRole('button', { name: 'Select', exact: true }).click()
  await files().getByLabel('Select Lease.txt').check()
  await files().getByLabel('Select House rules.txt').check()
  await files().getByRole('button', { name: 'Ask about these' }).click()
  await expect.poll(() => composerOf(page).inputValue()).toMatch(/^@knowledge “.+”, “.+”: $/)
  await composerOf(page).pressSequentially('How long is the notice period?')
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  const asked = await askedModel()
  expect(asked).toContain('three months')
  expect(asked).toContain('one day')
  expect(asked).not.toContain('one week')
  await rail('Chat').click()
})

test('the box completes names of documents after @knowledge, and only then', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  const names = page.getByRole('listbox', { name: 'Documents' })
  await composerOf(page).pressSequentially('@know')
  await composerOf(page).press('Tab')
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge ')
  expect(await page.getByRole('listbox').count()).toBe(0)
  await composerOf(page).pressSequentially('l')
  await expect
    .poll(() =>
      names
        .getByRole('option')
        .allInnerTexts()
        .then((shown) => shown.toSorted()),
    )
    .toEqual(['Lease.txt', 'Letter.txt'])
  await composerOf(page).press('Escape')
  expect(await page.getByRole('listbox').count()).toBe(0)
  await composerOf(page).press('Backspace')
  await composerOf(page).pressSequentially('House')
  await composerOf(page).press('Enter')
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “House rules.txt” ')
  await stage.stub.configure({ words: 'One day [1].' })
  await composerOf(page).pressSequentially('how long is the notice period?')
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  const asked = await askedModel()
  expect(asked).toContain('one day')
  expect(asked).not.toContain('three months')
})

test('what was said in an earlier conversation is a source, which opens that conversation at the message', async () => {
  await stage.stub.configure({ words: 'Noted.' })
  const said = 'The shutters are to be painted in Prussian blue.'
  const earlierId = await startChat(page, said)
  await stage.stub.configure({ words: 'In “Prussian blue” [1], and “in green” [1].' })
  const laterId = await startChat(page, '@knowledge In which colour are the shutters painted?')
  const answer = answerOn(page)
  const card = page.getByRole('button', { name: /Conversation: / })
  expect(await card.innerText()).toMatch(/said by you, Today$/)
  expect(await card.innerText()).toContain(said)
  await expect
    .poll(() => answer.locator('[data-misquote]').allInnerTexts())
    .toEqual([expect.stringMatching(/^in green/)])
  await answer.getByText('How this was answered', { exact: true }).click()
  await answer.getByText(/^\d+ of \d+ passages?, 1 of \d messages? · \d+ ms$/).waitFor()
  await card.click()
  await page.waitForURL(`**/?chat=${earlierId}`)
  await page.getByRole('article', { name: 'Your message' }).filter({ hasText: said }).waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain(said)
  await page.goto(`${stage.alcove.url}/?chat=${laterId}`)
  await answer
    .getByRole('button', { name: /^Source 1: .*, Today$/ })
    .first()
    .click()
  await page.waitForURL(`**/?chat=${earlierId}`)
})

test('an answer that cites nothing says so, in a line of its own', async () => {
  await stage.stub.configure({ words: 'Half a year, as everywhere.' })
  await startChat(page, 'How long is the notice period?')
  await answerOn(page)
    .getByText('Nothing in your documents supports this answer: it cites none of the passages that were found.')
    .waitFor()
  expect(await answerOn(page).locator('[data-source]').count()).toBe(0)
  await answerOn(page)
    .getByRole('button', { name: /^Show the \d sources that it was given$/ })
    .click()
  await answerOn(page).getByText('The notice period is three months.').first().waitFor()
})

test('a figure that the cited passage does not hold is marked, a right one is not, and neither is copied with a note', async () => {
  await stage.stub.configure({ words: 'The notice period is 4 months [1]. The deposit is 2 monthly rents [1].' })
  await startChat(page, 'Of which deposit, in monthly rents, and notice period does the lease write?')
  const marked = answerOn(page).locator('[data-unverified]')
  await expect.poll(() => marked.allInnerTexts()).toEqual([expect.stringMatching(/^4 months/)])
  expect(await marked.innerText()).toContain('Not in the cited passage')
  await marked.click()
  await page.getByRole('tooltip', { name: 'Not in the cited passage' }).waitFor()
  const copied = await page.evaluate(() => {
    const paragraph = document.querySelector('[data-unverified]')?.closest('p')
    getSelection()?.selectAllChildren(paragraph ?? document.body)
    return getSelection()?.toString()
  })
  expect(copied).toContain('is 4 months')
  expect(copied).not.toContain('Not in the cited passage')
})

test('an answer with sources is stored', async () => {
  await stage.stub.configure({ words: ANSWER })
  conversationId = await startChat(page, QUESTION)
})

describe.each([
  ['a wide screen', { width: 1440, height: 900 }],
  ['a phone', { width: 390, height: 844 }],
])('on %s', (_, viewport) => {
  beforeEach(async () => {
    await page.setViewportSize(viewport)
    await page.goto(`${stage.alcove.url}/?chat=${conversationId}`)
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
  })

  test('quotations that their source does not hold are marked, others are not', async () => {
    const answer = answerOn(page)
    const misquote = answer.locator('[data-misquote]')
    await expect.poll(() => misquote.count()).toBe(1)
    expect(await misquote.innerText()).toContain('not a day longer')
    expect(await answer.getByRole('blockquote').innerText()).toContain('Not found word for word in the source')
    await misquote.click()
    await page.getByRole('tooltip', { name: 'Not found word for word in the source' }).waitFor()
  })

  test('the trace unfolds, and is gone with the tool messages', async () => {
    const trace = answerOn(page).getByRole('group').filter({ hasText: 'How this was answered' })
    await trace.getByText('How this was answered', { exact: true }).click()
    await trace.getByText(QUESTION).waitFor()
    expect(await trace.getByText('shown to the model').count()).toBeGreaterThan(1)
    expect(await trace.innerText()).toMatch(/words [\d.]+/)
    expect(await trace.innerText()).toMatch(/\d+ in · \d+ out/)
    expect(await trace.innerText()).toMatch(/finding passages \d+ ms/)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    await page.getByRole('button', { name: 'Settings' }).last().click()
    await page.getByText('Show Tool Messages').click()
    await expect.poll(() => trace.count()).toBe(0)
    await page.getByText('Show Tool Messages').click()
    await page.keyboard.press('Escape')
    await trace.waitFor()
  })

  test('a marker opens its passage, arrows go through the sources, and closing returns to the marker', async () => {
    const marker = answerOn(page).locator('[data-citation="1"]').first()
    const label = await marker.getAttribute('aria-label')
    await marker.click()
    await expect.poll(() => markedText(page)).toMatch(/notice period|deposit/)
    const first = await markedText(page)
    await page.getByText('Source 1 of 2').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByText('Source 2 of 2').waitFor()
    const lit = page.locator('[data-citation][aria-current=true]')
    await expect.poll(() => lit.allTextContents()).toEqual(['2'])
    await expect.poll(() => markedText(page)).not.toBe(first)
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => markedText(page)).toBe(first)
    await page.getByRole('button', { name: 'Close document' }).click()
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(label)
  })

  test('a reload opens the same source with the same mark, and goes on through the others', async () => {
    await answerOn(page).locator('[data-citation="1"]').first().click()
    await page.getByText('Source 1 of 2').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByText('Source 2 of 2').waitFor()
    await expect.poll(() => markedText(page)).not.toBe('')
    const marked = await markedText(page)
    await page.reload()
    await page.getByText('Source 2 of 2').waitFor()
    await expect.poll(() => markedText(page)).toBe(marked)
    await page.getByRole('button', { name: 'Previous source' }).click()
    await page.getByText('Source 1 of 2').waitFor()
    await expect.poll(() => markedText(page)).not.toBe(marked)
    await page.getByRole('button', { name: 'Close document' }).click()
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-citation'))).toBe('1')
    expect(new URL(page.url()).search).toBe(`?chat=${conversationId}`)
  })

  test('a card names the relevance for what it is, and opens the passage', async () => {
    const card = answerOn(page).locator('[data-source="2"]')
    expect(await card.innerText()).toMatch(/\d+% relevance/)
    // A document of one section, which the viewer does not number either.
    await expect.poll(() => card.innerText()).toMatch(/Source: [\w ]+\.txt$/m)
    await card.click()
    await expect.poll(() => markedText(page)).toMatch(/notice period|deposit/)
    await page.keyboard.press('Escape')
    // The card, or its marker where the card was in the margin.
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.matches('[data-source="2"], [data-citation="2"]')))
      .toBe(true)
  })
})

test.each([
  ['beside', { width: 1440, height: 560 }],
  ['below', { width: 390, height: 600 }],
])('sources %s an answer push neither it nor its question out of view', async (_, viewport) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await page.setViewportSize(viewport)
  await stage.stub.configure({ words: 'Three months [1]. A day [2]. A week [3].' })
  await composerOf(page).fill(QUESTION)
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  const isInView = async () => {
    const question = await page.getByRole('article', { name: 'Your message' }).boundingBox()
    const header = await page.getByRole('banner').boundingBox()
    const answer = await answerOn(page).locator('[data-citation="3"]').boundingBox()
    const box = await composerOf(page).boundingBox()
    if (!question || !header || !answer || !box) throw new Error('one of them is not to be seen')
    return question.y >= header.y + header.height && answer.y + answer.height <= box.y
  }
  await expect.poll(isInView).toBe(true)
  await page.reload()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await expect.poll(isInView).toBe(true)
  // The cards still scroll into view.
  await page.locator('[data-source="3"]').scrollIntoViewIfNeeded()
  expect(await page.locator('[data-source="3"]').isVisible()).toBe(true)
})

test('a document goes with its conversation, and stays where that one is pressed again', async () => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const reader = page.getByRole('region', { name: /^Reader: / })
  const history = page.getByRole('region', { name: 'Conversations', exact: true })
  await storeConversation(stage, 'Bees', ['They hum.'])
  await page.goto(`${stage.alcove.url}/?chat=${conversationId}`)
  await answerOn(page).locator('[data-citation="1"]').first().click()
  await reader.waitFor()
  await history.locator('[aria-current=true]').click()
  expect(await reader.isVisible()).toBe(true)
  await history.getByRole('button', { name: /^Bees/ }).click()
  await reader.waitFor({ state: 'detached' })
  await page.goBack()
  await expect.poll(() => markedText(page)).toMatch(/notice period|deposit/)
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await reader.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
})

test('a passage of a workbook is marked in the grid of its sheet, and its cells are named', async () => {
  const rows = [['Lamp', 'Burns', 'Cubic metres'], ['Harbour', 'all night', 1234], [], ['Pier', 'until ten', 88]]
  await page.setViewportSize({ width: 1440, height: 900 })
  await rail('Files').click()
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({
      name: 'Lamps.xlsx',
      mimeType: UPLOAD_TYPES.xlsx,
      buffer: makeWorkbook([{ name: 'Of oil', rows: [[], ...rows.map((row) => [null, ...row])] }]),
    })
  await files()
    .getByRole('listitem')
    .and(page.locator('[data-state=ready]'))
    .filter({ hasText: 'Lamps.xlsx' })
    .waitFor()
  await rail('Chat').click()
  await stage.stub.configure({ words: 'Until ten [1]. All night in the harbour [1].' })
  await startChat(page, '@knowledge “Lamps.xlsx” How long does the lamp of the pier burn?')
  await page.getByText('Source: Lamps.xlsx · Of oil').first().waitFor()
  await answerOn(page).locator('[data-citation="1"]').first().click()
  await page.getByText('Cited: B5:D5').waitFor()
  const sheet = page.getByRole('region', { name: 'Sheet 1' })
  expect(await sheet.getByRole('columnheader').allInnerTexts()).toEqual(['B', 'C', 'D'])
  expect(await sheet.getByRole('rowheader').allInnerTexts()).toEqual(['2', '3', '5'])
  await sheet.getByText('Of oil', { exact: true }).waitFor()
  await expect.poll(() => markedText(page)).toContain('Pieruntil ten88')
  // Each marker opens the words before it; afterwards the viewer's keys work.
  await answerOn(page).locator('[data-citation="1"]').last().click()
  await page.getByText('Cited: B3:D3').waitFor()
  await expect.poll(() => markedText(page)).toContain('Harbourall night')
  await page.reload()
  await page.getByText('Cited: B3:D3').waitFor()
  await answerOn(page).locator('[data-citation="1"]').first().click()
  await page.getByText('Cited: B5:D5').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: /^Reader: / }).waitFor({ state: 'detached' })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
})

test('a document that was deleted bears the name that the answer calls it by', async () => {
  const deleted = await page.evaluate(async () => {
    const documents = (await (await fetch('/api/documents')).json()) as { id: string; filename: string }[]
    const { id } = documents.find(({ filename }) => filename === 'Lamps.xlsx') ?? { id: '' }
    return (await fetch(`/api/documents/${id}`, { method: 'DELETE' })).ok
  })
  expect(deleted).toBe(true)
  await answerOn(page).locator('[data-citation="1"]').first().click()
  const reader = page.getByRole('region', { name: 'Reader: Lamps.xlsx' })
  await reader.getByRole('heading', { name: 'Lamps.xlsx' }).waitFor()
  await reader.getByText('This document cannot be opened').waitFor()
  await reader.getByText('This document was deleted. An answer that rests on it still shows the passage.').waitFor()
  await page.keyboard.press('Escape')
})

test('a document of the library leaves the end of the thread in view', async () => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const long = Array.from({ length: 12 }, () =>
    'The notice period of every lease is three months, as it is written. '.repeat(6),
  )
  const { id } = await storeConversation(stage, 'Leases', [long.join('\n\n'), 'This is the end.'])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  const below = () =>
    page.getByText('This is the end.').evaluate((line) => {
      let view = line.parentElement
      while (view !== null && view.scrollTop === 0) view = view.parentElement
      return view === null ? null : Math.round(view.scrollHeight - view.scrollTop - view.clientHeight)
    })
  await expect.poll(below).toBe(0)
  const width = () => page.getByText('This is the end.').evaluate((line) => line.closest('main')?.clientWidth ?? 0)
  const wide = await width()
  await rail('Files').click()
  await files().getByRole('button', { name: 'Lease.txt', exact: true }).click()
  await expect.poll(width).toBeLessThan(wide)
  await expect.poll(below).toBe(0)
  await page.getByRole('button', { name: 'Close document' }).click()
  await expect.poll(width).toBe(wide)
  await expect.poll(below).toBe(0)
  await rail('Chat').click()
})
