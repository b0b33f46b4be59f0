/** The command palette: finds conversations, messages, documents and commands while typing. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePdf } from '#test/make-pdf.ts'
import { markedText } from './browser.ts'
import { openStage, type Stage, storeConversation } from './stage.ts'

const NEEDLE = 'The quince tree was planted in 1911.'
const TALL = Array.from({ length: 60 }, (_, index) => `Medlar ${index} is ripe.`).join('\n\n')

let stage: Stage
let page: Page
let orchardId: string
let needleId: string
let tallId: string
const violations: string[] = []

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) violations.push(message.text())
  })
  const orchard = Array.from({ length: 300 }, (_, index) => `Row ${index} of the orchard.\n\nIt is ${index} feet long.`)
  orchard[20] = `## Trees\n\nSome words before it. ${NEEDLE} Some words after it.`
  const stored = await storeConversation(stage, 'The old orchard', orchard)
  orchardId = stored.id
  needleId = stored.messageIds[20] ?? ''
  await storeConversation(stage, 'Winter café', ['Soup and bread.'])
  const list = await storeConversation(stage, 'The long list', ['Plums first.', 'Cherries then.', TALL])
  tallId = list.messageIds[2] ?? ''
  await page.evaluate(async () => {
    const form = new FormData()
    form.append('files', new File(['Pears keep until March. Plums do not.'], 'pear-notes.txt', { type: 'text/plain' }))
    await fetch('/api/documents', { method: 'POST', body: form })
  })
  await uploadPdf('grafting.pdf', ['On tools', 'On wax', 'On wood\nScion wood is cut in January and kept cold.'])
  await page.reload()
  await page.getByText('Chat History').waitFor()
})
afterAll(() => stage.close())

const uploadPdf = (name: string, pages: string[]) =>
  page.evaluate(
    async ([filename, content]) => {
      const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
      const form = new FormData()
      form.append('files', new File([bytes], filename, { type: 'application/pdf' }))
      await fetch('/api/documents', { method: 'POST', body: form })
    },
    [name, makePdf(pages.map((text) => `# ${text}`)).toString('base64')] as const,
  )

const dialog = () => page.getByRole('dialog', { name: 'Search and commands' })
const box = () => dialog().getByRole('combobox')
const option = (name: string | RegExp) => dialog().getByRole('option', { name })
const open = async (): Promise<void> => {
  await page.keyboard.press('Control+k')
  await box().waitFor()
}
const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null)

test('opens with its button and with Ctrl+K, and gives the focus back on Escape', async () => {
  const button = page.getByRole('button', { name: 'Search', exact: true })
  await button.click()
  await expect.poll(() => box().evaluate((element) => element === document.activeElement)).toBe(true)
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
  await expect.poll(focused).toBe('Search')
  await open()
  await option(/The old orchard/).waitFor()
  await option('New chat').waitFor()
  await page.keyboard.press('Escape')
})

test('what is typed before the palette has been fetched ends up in its box', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  await page.route('**/assets/command-palette-*.js', async (route) => {
    await released
    await route.fallback()
  })
  await page.reload()
  await page.getByText('Chat History').waitFor()
  await page.getByRole('button', { name: 'Search', exact: true }).focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('wint')
  expect(await dialog().getByRole('textbox').inputValue()).toBe('wint')
  release(undefined)
  await option(/Winter café/).waitFor()
  await page.keyboard.type('er')
  await expect.poll(() => box().inputValue()).toBe('winter')
  await page.unrouteAll()
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
  await expect.poll(focused).toBe('Search')
})

test('finds conversations by their titles, whatever the case and the accents', async () => {
  await open()
  await box().fill('CAFE')
  await option(/Winter café/).waitFor()
  await expect.poll(() => option(/The old orchard/).count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Winter café' }).waitFor()
  await expect.poll(focused).toBe('Message')
})

test('finds what was said, as one types, and marks the words', async () => {
  await open()
  await box().pressSequentially('quin plant')
  const found = option(/The old orchard/)
  // Its first word already matches.
  await expect.poll(() => found.locator('mark').allInnerTexts()).toEqual(['quin', 'plant'])
  expect(await found.innerText()).toContain(NEEDLE)
})

test('opens the conversation at a message far above the ones that are loaded', async () => {
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The old orchard' }).first().waitFor({ state: 'attached' })
  expect(new URL(page.url()).searchParams.get('chat')).toBe(orchardId)
  const message = page.getByRole('article').filter({ hasText: NEEDLE })
  await message.waitFor()
  await expect
    .poll(() =>
      message.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      }),
    )
    .toBe(true)
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(`message-${needleId}`)
})

test('goes to the same message again after the reader has scrolled away', async () => {
  await page.getByRole('button', { name: 'To the newest message' }).click()
  await page.getByText('Row 299 of the orchard.').waitFor()
  await open()
  await box().fill('planted in 1911')
  await option(/The old orchard/).click()
  await page.getByText(NEEDLE).waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(`message-${needleId}`)
})

test('only the thread scrolls to a tall answer at its end', async () => {
  await open()
  await box().fill('medlar')
  await option(/The long list/).click()
  const answer = page.locator(`[id="message-${tallId}"]`)
  await expect.poll(() => answer.evaluate((element) => element === document.activeElement)).toBe(true)
  await expect
    .poll(() => answer.evaluate((element) => Math.abs(element.getBoundingClientRect().top) < innerHeight / 2))
    .toBe(true)
  const moved = await answer.evaluate((element) => {
    const around: number[] = []
    for (let one = element.closest('main')?.parentElement; one; one = one.parentElement) around.push(one.scrollTop)
    return around
  })
  expect(moved.filter((top) => top !== 0)).toEqual([])
})

test('opens a document in the reader', async () => {
  await open()
  await box().fill('pear-n')
  await option(/pear-notes\.txt/).click()
  await page.getByText('Pears keep until March.').waitFor()
  await page.keyboard.press('Escape')
})

test('finds what stands in a document, and opens it at the page with the passage marked', async () => {
  const states = () =>
    page.evaluate(async () =>
      ((await (await fetch('/api/documents')).json()) as { state: string }[]).map(({ state }) => state),
    )
  await expect.poll(states).toEqual(['ready', 'ready'])
  await open()
  await box().pressSequentially('scion wood')
  const found = option(/grafting\.pdf/)
  await found.locator('mark').first().waitFor()
  expect(await found.innerText()).toContain('Page 3 of 3')
  // The results of what was typed before may be shown first.
  await expect.poll(() => found.locator('mark').allInnerTexts()).toContain('Scion')
  await found.click()
  await expect.poll(() => markedText(page)).toContain('Scion wood is cut in January')
  expect(new URL(page.url()).searchParams.get('page')).toBe('3')
  await page.keyboard.press('Escape')
})

test('Enter takes the first entry, also where that comes in above another one', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  await page.route('**/api/search/documents?*', async (route) => {
    await released
    await route.fallback()
  })
  const chosen = (name: RegExp) => expect.poll(() => option(name).getAttribute('aria-selected'))
  await open()
  await box().fill('plums')
  await chosen(/The long list/).toBe('true')
  release(undefined)
  await chosen(/pear-notes\.txt/).toBe('true')
  await page.keyboard.press('ArrowDown')
  await chosen(/The long list/).toBe('true')
  await chosen(/pear-notes\.txt/).toBe('false')
  await page.unrouteAll()
  await page.keyboard.press('Escape')
})

test('a document comes back at the page in view, and its mark carries nobody off', async () => {
  await open()
  await box().pressSequentially('scion wood')
  await option(/grafting\.pdf/)
    .locator('mark')
    .first()
    .waitFor()
  await option(/grafting\.pdf/).click()
  await expect.poll(() => markedText(page)).toContain('Scion wood')
  const reader = page.getByRole('region', { name: 'Reader: grafting.pdf' })
  const shown = () => reader.getByRole('textbox').inputValue()
  for (const left of ['2', '1']) {
    await reader.getByRole('button', { name: 'Previous page' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('page')).toBe(left)
  }
  await page.reload()
  // The marked page is within the rendered range but not in view.
  await expect.poll(() => markedText(page)).toContain('Scion wood')
  expect(await reader.getByRole('region', { name: 'Document' }).evaluate(({ scrollTop }) => scrollTop)).toBe(0)
  expect(await shown()).toBe('1')
  await page.keyboard.press('Escape')
})

test('shows how long a document is that is found by its name alone', async () => {
  await open()
  await box().fill('grafting')
  await expect.poll(() => option(/grafting\.pdf/).innerText()).toContain('3 pages')
  await page.keyboard.press('Escape')
})

test('does what can be done', async () => {
  await open()
  await box().fill('theme light')
  await option('Use the light theme').click()
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light')
  await open()
  await box().fill('stub')
  await option('Use stub-gpt').click()
  await page.getByRole('button', { name: /stub-gpt/ }).waitFor()
  await open()
  await box().fill('upload')
  await option('Upload documents').click()
  await page.getByText('Drag files here or tap to upload').waitFor()
  await open()
  await box().fill('new chat')
  await option('New chat').click()
  await expect.poll(() => new URL(page.url()).searchParams.get('chat')).toBeNull()
})

test('says what it does not find, and what it could not search', async () => {
  await open()
  await box().fill('zanzibar')
  await dialog().getByText('Nothing found for “zanzibar”.').waitFor()
  await page.route('**/api/search**', (route) => route.fulfill({ status: 500, body: '{}' }))
  await box().fill('zanzibars')
  await dialog().getByText('Messages could not be searched.').waitFor()
  await page.unrouteAll()
  await page.keyboard.press('Escape')
})

test('breaks no rule of the Content-Security-Policy', () => {
  expect(violations).toEqual([])
})

test('shows the shortcuts of the page', async () => {
  const search = page.getByRole('button', { name: 'Search', exact: true })
  await search.click()
  await box().fill('shortcuts')
  await option('Keyboard shortcuts').click()
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard Shortcuts' })
  const rowOf = (description: string) =>
    shortcuts.locator('div').filter({ has: page.getByText(description, { exact: true }) })
  await rowOf('Close the document').last().getByText('Esc', { exact: true }).waitFor()
  await rowOf('Send the text of a box').last().getByText('Ctrl+Enter', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await shortcuts.waitFor({ state: 'detached' })
  await expect.poll(focused).toBe('Search')
})

test('saves a long conversation as Markdown, whole', async () => {
  await page.goto(`${stage.alcove.url}/?chat=${orchardId}`)
  await page.getByText('Row 299 of the orchard.').waitFor()
  await open()
  await box().fill('markdown')
  const [download] = await Promise.all([page.waitForEvent('download'), option('Save as Markdown').click()])
  expect(download.suggestedFilename()).toBe('The old orchard.md')
  const text = await readFile(await download.path(), 'utf8')
  expect(text).toMatch(/^# The old orchard\n\n## Answer, /)
  expect(text.match(/^Row \d+ of the orchard\.$/gm)).toHaveLength(299)
})
