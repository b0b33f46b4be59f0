/** Files that are dropped or pasted while a conversation is open: the next question is about them. */
import type { Locator, Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawText, makeScannedPdf } from '#test/make-scan.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  // The name marks a model with vision.
  // A scan takes as long as the machine lets it.
  stage = await openStage({ models: 'gpt-4o', environment: { DOCUMENT_WAIT_S: '300' } })
  page = stage.page
  await page.getByRole('button', { name: 'Model: gpt-4o DEFAULT' }).waitFor()
})
afterAll(() => stage.close())

/** Into the input of the page-wide drop zone. */
const drop = (name: string, mimeType: string, buffer: Buffer) =>
  page.locator('input[type=file]').first().setInputFiles({ name, mimeType, buffer })

async function send(): Promise<void> {
  await composerOf(page).press('Control+Enter')
}
const answersAre = (count: number) =>
  expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(count)
const asked = async () => JSON.stringify(await stage.stub.lastRequest())

test('a file is named before what is typed, and its text answers the next question', async () => {
  await startChat(page, 'Hello [[stub tokens=5]]')
  await composerOf(page).fill('Who trims it?')
  await drop('house rules.txt', 'text/plain', Buffer.from('The warden trims the lamp after midnight.'))
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “house rules.txt”: Who trims it?')
  await page.getByText('Ready').first().waitFor()
  await send()
  await answersAre(2)
  expect(await asked()).toContain('The warden trims the lamp after midnight.')
})

test('dragged words are left to the message box, dragged files are taken', async () => {
  const isTaken = (kind: 'words' | 'files') =>
    composerOf(page).evaluate((box, dragged) => {
      const dataTransfer = new DataTransfer()
      if (dragged === 'words') dataTransfer.setData('text/plain', 'trims it after midnight')
      else dataTransfer.items.add(new File(['x'], 'note.txt'))
      return ['dragenter', 'dragover', 'dragleave'].map(
        (type) => !box.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })),
      )
    }, kind)
  expect(await isTaken('words')).toEqual([false, false, false])
  expect(await isTaken('files')).toEqual([true, true, true])
})

test('a picture goes to a model that sees, also where nothing was recognised in it', async () => {
  const drawn = sharp({ create: { width: 60, height: 40, channels: 3, background: '#336699' } })
  await drop('photo.png', 'image/png', await drawn.png().toBuffer())
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “photo.png”: ')
  await composerOf(page).press('End')
  await composerOf(page).pressSequentially('What is this?')
  await send()
  await answersAre(3)
  expect(await asked()).toContain('"image_url":{"url":"data:image/jpeg;base64,')
})

test('a scan that is asked about at once is read first', async () => {
  const picture = await drawText('The ferry leaves at noon.')
  await drop('timetable.pdf', 'application/pdf', makeScannedPdf([{ picture }]))
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “timetable.pdf”: ')
  await composerOf(page).press('End')
  await composerOf(page).pressSequentially('When does it leave?')
  await send()
  const reading = page.getByText('Reading your documents…')
  await reading.waitFor()
  await reading.waitFor({ state: 'detached' })
  await answersAre(4)
  expect(await asked()).toContain('The ferry leaves at noon.')
})

test('an answer without a file that was not read yet is followed by one with it, where that is wanted', async () => {
  const picture = await drawText('The mill is closed in winter.')
  await drop('mill.pdf', 'application/pdf', makeScannedPdf([{ picture }, { picture }, { picture }]))
  await expect.poll(() => composerOf(page).inputValue()).toContain('mill.pdf')
  await composerOf(page).fill('Who trims the lamp after midnight, and when is the mill closed?')
  await send()
  await answersAre(5)
  expect(await asked()).not.toContain('The mill is closed in winter.')
  const answer = page.getByRole('article', { name: 'Answer' }).last()
  await answer.getByText('One document was not read yet, and not used. That is done now.').waitFor()
  await answer.getByRole('button', { name: 'Answer again' }).click()
  await answer.getByText('2 / 2').waitFor()
  expect(await asked()).toContain('The mill is closed in winter.')
  expect(await answer.getByText('not read yet').count()).toBe(0)
})

test('the footer says that a named document and a picture leave as they are, and where to', async () => {
  await page.getByRole('button', { name: 'Your data stays private' }).click()
  const told = page.getByRole('tooltip')
  await told.getByText(`are sent to ${new URL(stage.stub.baseUrl).host}.`, { exact: false }).waitFor()
  await told
    .getByText('A document that you name may go there whole, a picture as a picture.', { exact: false })
    .waitFor()
  await page.keyboard.press('Escape')
})

/** Simulates a person who drags files over the element and drops them. */
const letGoOver = (target: Locator, name: string, text: string) =>
  target.evaluate(
    (element, [filename, content]) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([content], filename, { type: 'text/plain' }))
      for (const type of ['dragenter', 'dragover', 'drop'])
        element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
    },
    [name, text] as const,
  )
const paste = (target: Locator, name: string, text: string) =>
  target.evaluate(
    (element, [filename, content]) => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File([content], filename, { type: 'text/plain' }))
      element.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }))
    },
    [name, text] as const,
  )
const openTab = (name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true }).click()
const readRow = (name: string) =>
  page.getByRole('region', { name: 'Files' }).locator('[data-state=ready]').filter({ hasText: name })

test('what is put into the library is named in no question, what is put onto the conversation is', async () => {
  await openTab('Files')
  const library = page.getByRole('region', { name: 'Library' })
  await page.getByLabel('Files to upload').setInputFiles({
    name: 'chosen.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('Chosen for the shelf.'),
  })
  await letGoOver(library, 'shelved.txt', 'Put on the shelf.')
  await paste(library.getByRole('button', { name: 'Select', exact: true }), 'glued.txt', 'Glued to the shelf.')
  for (const name of ['chosen.txt', 'shelved.txt', 'glued.txt']) await readRow(name).waitFor()
  expect(await composerOf(page).inputValue()).toBe('')
  await letGoOver(page.getByRole('main'), 'dropped.txt', 'Dropped onto the thread.')
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “dropped.txt”: ')
  await paste(composerOf(page), 'pasted.txt', 'Pasted into the box.')
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “dropped.txt”, “pasted.txt”: ')
})

test('a file that cannot be read is named no longer, and what is typed beside it stays', async () => {
  await composerOf(page).press('End')
  await composerOf(page).pressSequentially('Which is right?')
  await drop('broken.pdf', 'application/pdf', Buffer.from(`%PDF-1.7\n${'nothing of the kind '.repeat(40)}`))
  await page
    .getByRole('region', { name: 'Files' })
    .locator('[data-state=failed]')
    .filter({ hasText: 'broken.pdf' })
    .waitFor()
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “dropped.txt”, “pasted.txt”: Which is right?')
  await composerOf(page).fill('')
  await openTab('Chat')
})

test('with no conversation open a file is only added to the library', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await drop('later.txt', 'text/plain', Buffer.from('Something for later.'))
  await page.getByText('later.txt').first().waitFor()
  expect(await composerOf(page).inputValue()).toBe('')
})

test('what came of a file is told where it covers nothing, beside a document and on a phone', async () => {
  const tray = page.getByRole('region', { name: 'Uploads', exact: true })
  const told = tray.getByRole('button', { name: '1 file could not be read' })
  const expectApart = async (others: readonly Locator[]): Promise<void> => {
    const own = await tray.boundingBox()
    for (const other of others) {
      const box = await other.boundingBox()
      if (own === null || box === null) throw new Error('one of them is not to be seen')
      const isBeside = own.x + own.width <= box.x || box.x + box.width <= own.x
      const isAboveOrBelow = own.y + own.height <= box.y || box.y + box.height <= own.y
      expect(isBeside || isAboveOrBelow).toBe(true)
    }
  }
  const parts = [page.getByRole('banner'), page.getByRole('main')]
  await page.getByRole('main').getByRole('button', { name: 'later.txt', exact: true }).click()
  const reader = page.getByRole('region', { name: 'Reader: later.txt' })
  await reader.getByText('Something for later.').waitFor()
  await drop('tool.exe', 'application/octet-stream', Buffer.from('MZ'))
  await told.waitFor()
  await expectApart([...parts, reader])
  await told.click()
  await tray.getByText('tool.exe').waitFor()
  await expectApart([...parts, reader])
  await page.getByRole('button', { name: 'Close document' }).click()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Open navigation' }).waitFor()
  await expectApart(parts)
  await tray.getByRole('button', { name: 'Hide uploads' }).click()
  await tray.waitFor({ state: 'detached' })
})

test('all files in work are counted, and one that was refused stands before them, on a phone too', async () => {
  const tray = page.getByRole('region', { name: 'Uploads', exact: true })
  const text = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`About ${name}.`) })
  const refused = { name: 'tool.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') }
  const input = page.locator('input[type=file]').first()
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  await page.route('**/api/documents', async (route) => {
    if (route.request().method() === 'POST') await released
    await route.fallback()
  })
  await input.setInputFiles([...Array.from({ length: 8 }, (_, index) => text(`part ${index}.txt`)), refused])
  await tray.getByRole('button', { name: 'Reading 8 files, 1 could not be read' }).waitFor()
  await input.setInputFiles([text('part 8.txt'), text('part 9.txt')])
  await tray.getByRole('button', { name: 'Reading 10 files, 1 could not be read' }).waitFor()
  const rows = tray.getByRole('listitem')
  expect(await rows.count()).toBe(11)
  expect(await rows.first().innerText()).toContain('File type must be one of')
  const [shown, row] = [await rows.first().locator('../..').boundingBox(), await rows.first().boundingBox()]
  if (shown === null || row === null) throw new Error('the row is not to be seen')
  expect(row.y).toBeGreaterThanOrEqual(shown.y)
  expect(row.y + row.height).toBeLessThanOrEqual(shown.y + shown.height)
  release(undefined)
  await tray.getByRole('button', { name: '1 file could not be read' }).waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await tray.getByRole('button', { name: 'Hide uploads' }).click()
  await tray.waitFor({ state: 'detached' })
})

test('the tray folds once a question is sent, and counts all that were added', async () => {
  const tray = page.getByRole('region', { name: 'Uploads', exact: true })
  await page.setViewportSize({ width: 1440, height: 900 })
  await startChat(page, 'Hello again [[stub tokens=5]]')
  const text = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`About ${name}.`) })
  const input = page.locator('input[type=file]').first()
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  await input.setInputFiles([text('soon 1.txt'), text('soon 2.txt')])
  await page.route('**/api/documents', async (route) => {
    if (route.request().method() === 'POST') await released
    await route.fallback()
  })
  await input.setInputFiles([text('late.txt')])
  await tray.getByRole('listitem').first().waitFor()
  await composerOf(page).fill('And now? [[stub tokens=5]]')
  await send()
  await tray.getByRole('listitem').first().waitFor({ state: 'detached' })
  release(undefined)
  await tray.getByRole('button', { name: '3 files ready' }).waitFor()
  await page.unrouteAll({ behavior: 'wait' })
})
