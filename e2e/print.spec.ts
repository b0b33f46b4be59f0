/** Conversations and documents on paper, read from the PDF that the browser prints. */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillConversation } from '#test/fill-conversation.ts'
import { makeDocx } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { drawText, makePng } from '#test/make-scan.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { openStage, type Stage } from './stage.ts'

const QUESTIONS = 200
const LONG_LINE = `const lamp = '${'oil '.repeat(60)}end of the line'`

let stage: Stage
let page: Page
let long: string
let short: string

const sourceOf = (n: number) => ({
  n,
  documentId: randomUUID(),
  filename: `keepers-${n}.pdf`,
  page: n + 6,
  start: 0,
  end: 20,
  text: `The passage of source ${n} says when the lamp is lit.`,
  score: 1,
})

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  const messages = Array.from({ length: QUESTIONS }, (_, n) => [
    { sender_role: 1 as const, content: `Question ${n}: who trims lamp ${n}?` },
    {
      sender_role: 2 as const,
      content: `Answer ${n}: the keeper does [1]. See **the log** [2].`,
      metadata: { sources: [sourceOf(1), sourceOf(2), sourceOf(3)] },
    },
  ]).flat()
  long = await fillConversation(stage.dataDir, { title: 'The keepers of the lamp' }, messages)
  const wide = Array.from({ length: 12 }, (_, n) => `column ${n}`)
  short = await fillConversation(stage.dataDir, { title: 'Short' }, [
    {
      sender_role: 1,
      content: `Show all of https://example.test\n${'A line of a long question.\n'.repeat(40)}The last line.`,
    },
    {
      sender_role: 2,
      content:
        `Here:\n\n\`\`\`ts\n${LONG_LINE}\n\`\`\`\n\n| ${wide.join(' | ')} |\n|${' --- |'.repeat(12)}\n` +
        `| ${wide.map((cell) => `${cell} in the first row`).join(' | ')} |\n\n[The page](https://example.test/a) shows it.`,
    },
  ])
})
afterAll(() => stage.close())

/** The texts of the pages, and the colours in which the page would have been drawn. */
async function printedPages(on: Page): Promise<string[]> {
  const pdf = await getDocument({
    data: new Uint8Array(await on.pdf({ format: 'A4' })),
    verbosity: VerbosityLevel.ERRORS,
  }).promise
  const texts: string[] = []
  for (let n = 1; n <= pdf.numPages; n += 1) {
    const { items } = await (await pdf.getPage(n)).getTextContent()
    texts.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? ' ' : '') : '')).join(''))
  }
  return texts
}

const printed = async (on: Page): Promise<string> => (await printedPages(on)).join(' ').replaceAll(/\s+/g, ' ')

/** Presses Print and waits until the browser's dialog would open. */
async function pressPrint(press: () => Promise<void>): Promise<void> {
  await page.evaluate(() => {
    Object.assign(window, { dialogs: 0 })
    window.print = () => Object.assign(window, { dialogs: 1 })
  })
  await press()
  await expect.poll(() => page.evaluate(() => (window as unknown as { dialogs: number }).dialogs)).toBe(1)
}

async function openChat(id: string): Promise<void> {
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await page.getByRole('article', { name: 'Answer' }).last().waitFor()
}

test.each([
  [1440, 900],
  [390, 844],
])('a conversation of hundreds of messages is printed whole, with its sources (%i px wide)', async (width, height) => {
  await page.setViewportSize({ width, height })
  await openChat(long)
  await pressPrint(async () => {
    await page.getByRole('heading', { level: 1 }).hover()
    await page.getByRole('button', { name: 'Print conversation' }).click()
  })
  const text = await printed(page)
  for (let n = 0; n < QUESTIONS; n += 1) {
    expect(text).toContain(`Question ${n}: who trims lamp ${n}?`)
    expect(text).toContain(`Answer ${n}: the keeper does`)
  }
  expect(text).toContain('The keepers of the lamp')
  expect(text.match(/keepers-1\.pdf p\.7/g)).toHaveLength(QUESTIONS)
  expect(text.match(/The passage of source 2 says when the lamp is lit\./g)).toHaveLength(QUESTIONS)
  // No answer cites it.
  expect(text).not.toContain('keepers-3.pdf')
  for (const control of ['Chat History', 'Good answer', 'Regenerate', 'Ask anything'])
    expect(text).not.toContain(control)
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
})

test('the print command of the browser prints what is loaded: long questions, code, tables and addresses', async () => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await openChat(short)
  // The first key of Ctrl+P; the rest of the command is the browser's.
  await page.keyboard.press('Control')
  await expect.poll(() => printed(page)).toContain('printed ')
  const text = await printed(page)
  for (const words of ['The last line.', 'end of the line', 'column 11 in the first row', 'https://example.test/a'])
    expect(text).toContain(words)
  expect(text).not.toContain('Show more')
})

test('Ctrl+P loads everything first', async () => {
  await openChat(long)
  await pressPrint(() => page.keyboard.press('Control+p'))
  const text = await printed(page)
  expect(text).toContain('Question 0: who trims lamp 0?')
  expect(text).not.toContain('missing here')
})

const FILES = [
  {
    name: 'book.pdf',
    mimeType: 'application/pdf',
    make: () => makePdf(Array.from({ length: 12 }, (_, n) => `Chapter ${n}\n\nThe keeper of chapter ${n} is at home.`)),
    expected: Array.from({ length: 12 }, (_, n) => `The keeper of chapter ${n} is at home.`),
  },
  {
    name: 'rows.xlsx',
    mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    make: () =>
      makeWorkbook(
        ['North', 'South'].map((name) => ({
          name,
          rows: Array.from({ length: 900 }, (_, n) => [
            `${name} ${n}`,
            n * 2,
            ...Array.from({ length: 14 }, (_empty, column) => `column ${column} of ${n}`),
          ]),
        })),
      ),
    expected: ['North 0', 'North 450', 'North 899', 'South 0', 'South 899', 'column 13 of 899'],
  },
  {
    name: 'letter.docx',
    mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    make: () =>
      makeDocx(
        Array.from({ length: 400 }, (_, n) => ({ paragraph: `Paragraph ${n} of the letter is here. `.repeat(6) })),
      ),
    expected: ['Paragraph 0 of', 'Paragraph 200 of', 'Paragraph 399 of the letter', 'letter.docx'],
  },
  {
    name: 'notes.txt',
    mimeType: 'text/plain',
    make: () => Buffer.from(Array.from({ length: 3000 }, (_, n) => `Note ${n} is short.`).join('\n\n')),
    expected: ['Note 0 is short.', 'Note 1500 is short.', 'Note 2999 is short.', 'notes.txt'],
  },
  {
    name: 'scan.png',
    mimeType: 'image/png',
    make: async () => makePng(await drawText('The lamp on a picture')),
    expected: ['scan.png'],
  },
]

test.each(FILES)('all of $name is printed', async ({ name, mimeType, make, expected }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(stage.alcove.url)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({ name, mimeType, buffer: Buffer.from(await make()) })
  const row = page.getByRole('region', { name: 'Files' }).getByRole('listitem').filter({ hasText: name })
  await expect.poll(() => row.getAttribute('data-state'), { timeout: 60_000 }).toBe('ready')
  await row.getByRole('button').first().click()
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    await pressPrint(() => page.getByRole('button', { name: `Print ${name}` }).click())
    const text = await printed(page)
    for (const words of expected) expect(text).toContain(words)
    expect(text).not.toContain('missing here')
  }
})

test('a long document says how far its preparation is, which ends with Cancel', async () => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(stage.alcove.url)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  const pages = Array.from({ length: 400 }, (_, n) => `Night ${n} was ${'long and dark '.repeat(80)}.`)
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({ name: 'nights.pdf', mimeType: 'application/pdf', buffer: makePdf(pages) })
  const row = page.getByRole('region', { name: 'Files' }).getByRole('listitem').filter({ hasText: 'nights.pdf' })
  await expect.poll(() => row.getAttribute('data-state')).toBe('ready')
  await row.getByRole('button').first().click()
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '')
  })
  const button = page.getByRole('button', { name: 'Print nights.pdf' })
  const dialog = page.getByRole('dialog', { name: 'Preparing to Print' })
  for (const cancel of [
    () => page.keyboard.press('Escape'),
    () => dialog.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await button.press('Enter')
    await dialog.getByRole('progressbar', { name: /^[1-9]\d* of 400 pages prepared$/ }).waitFor()
    await cancel()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => button.evaluate((node) => node === document.activeElement)).toBe(true)
  }
  expect(await page.evaluate(() => document.body.hasAttribute('data-printed'))).toBe(false)
  expect(await printedPages(page)).not.toHaveLength(400)
})
