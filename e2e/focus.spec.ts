/** Where Escape and the focus go around fields that open in place, and around the document viewer. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeWorkbook } from '#test/make-workbook.ts'
import { makeSpace, switchTo } from './spaces.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

const WIDE = { width: 1440, height: 900 }
/** The document viewer is a sheet. */
const NARROW = { width: 1200, height: 800 }
/** The navigation is a sheet too. */
const SMALL = { width: 700, height: 800 }

const WORKBOOK = 'lamps.xlsx'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({
    environment: ({ baseUrl }) => ({
      DEFAULT_MODEL: 'alcove-reader',
      OPENAI_BASE_URL: baseUrl,
      ALLOWED_NETWORKS: '127.0.0.1/32',
    }),
  })
  page = stage.page
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const rows = [['lamp', 'hours']]
  const workbook = makeWorkbook(['Hall', 'Reading room', 'Cellar'].map((name) => ({ name, rows })))
  await page.evaluate(
    async ([name, bytes]) => {
      const form = new FormData()
      form.append('files', new File([new Uint8Array(bytes)], name))
      form.append('files', new File(['Open until midnight.'], 'hours.txt', { type: 'text/plain' }))
      await fetch('/api/documents', { method: 'POST', body: form })
    },
    [WORKBOOK, [...workbook]] as const,
  )
  await openTab('Files')
  await files().getByRole('listitem').filter({ hasText: '3 sheets' }).waitFor()
})
afterAll(() => stage.close())
beforeEach(() => page.setViewportSize(WIDE))

const press = (key: string) => page.keyboard.press(key)
const drawer = () => page.getByRole('dialog', { name: 'Navigation' })
const viewer = () => page.getByRole('region', { name: `Reader: ${WORKBOOK}` })
const files = () => page.getByRole('region', { name: 'Files', exact: true })
const file = () => files().getByRole('button', { name: WORKBOOK, exact: true })

async function openTab(name: 'Files' | 'Users' | 'Settings'): Promise<void> {
  const tab = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
  if ((await tab.getAttribute('aria-expanded')) !== 'true') await tab.press('Enter')
}

async function openDrawer(name: 'Files' | 'Users' | 'Settings'): Promise<void> {
  await page.setViewportSize(SMALL)
  await page.getByRole('button', { name: 'Open navigation' }).press('Enter')
  await drawer().waitFor()
  await openTab(name)
}

const isFocused = (element: Locator) => expect.poll(() => element.evaluate((node) => node === document.activeElement))

describe('in a sheet, Escape', () => {
  test('restores the page number that is being typed; the next one closes the document', async () => {
    await openTab('Files')
    await file().press('Enter')
    await page.setViewportSize(NARROW)
    const number = viewer().getByRole('textbox', { name: /^Sheet/ })
    await number.fill('7')
    await press('Escape')
    await expect.poll(() => number.inputValue()).toBe('1')
    await press('Escape')
    await viewer().waitFor({ state: 'detached' })
  })

  test('drops the new name of a file; the next one closes the drawer', async () => {
    await openDrawer('Files')
    await files()
      .getByRole('button', { name: `Rename ${WORKBOOK}` })
      .press('Enter')
    await page.getByRole('textbox', { name: `New name of ${WORKBOOK}` }).fill('other')
    await press('Escape')
    await isFocused(files().getByRole('button', { name: `Rename ${WORKBOOK}` })).toBe(true)
    await press('Escape')
    await drawer().waitFor({ state: 'detached' })
  })

  test('ends the selection of files; the next one closes the drawer', async () => {
    await openDrawer('Files')
    await drawer().getByRole('button', { name: 'Select', exact: true }).press('Enter')
    await files()
      .getByRole('checkbox', { name: `Select ${WORKBOOK}` })
      .press('Space')
    await press('Escape')
    await files()
      .getByRole('checkbox', { name: `Select ${WORKBOOK}` })
      .waitFor({ state: 'detached' })
    expect(await drawer().count()).toBe(1)
    await press('Escape')
    await drawer().waitFor({ state: 'detached' })
  })

  test('cancels a form that opened in place, from each of its fields', async () => {
    await openDrawer('Settings')
    const opener = page.getByRole('button', { name: 'Add a key or a server' })
    for (const field of ['Provider', 'Key']) {
      await opener.press('Enter')
      await page.getByRole('form', { name: 'Add a provider' }).getByLabel(field).press('Escape')
      await isFocused(opener).toBe(true)
    }
    await press('Escape')
    await drawer().waitFor({ state: 'detached' })
  })
})

/** Opens a form in place of its button, and ends it by Cancel and by Escape. */
async function expectFocusBack(opener: Locator): Promise<void> {
  await opener.press('Enter')
  await page.getByRole('button', { name: 'Cancel' }).press('Enter')
  await isFocused(opener).toBe(true)
  await opener.press('Enter')
  await page.locator('form').filter({ has: page.getByRole('button', { name: 'Cancel' }) }).locator('input').last().press('Escape') // prettier-ignore
  await isFocused(opener).toBe(true)
}

describe('a form in place of its button gives the focus back to it', () => {
  test.each(['Change display name', 'Change e-mail', 'Change password'])('%s', async (name) => {
    await openTab('Users')
    await expectFocusBack(page.getByRole('button', { name }))
  })

  test('once a name is stored, in a drawer too', async () => {
    const opener = page.getByRole('button', { name: 'Change display name' })
    const store = async (name: string) => {
      await opener.press('Enter')
      await page.getByRole('form', { name: 'Display name' }).getByLabel('Display name').fill(name)
      await press('Enter')
      await page.getByText(name, { exact: true }).waitFor()
      await isFocused(opener).toBe(true)
    }
    await openTab('Users')
    await store('Ada')
    await openDrawer('Users')
    await store('Ada Lovelace')
    await press('Escape')
  })

  test.each(['Add a key or a server', 'Add a tool server'])('%s', async (name) => {
    await openTab('Settings')
    await expectFocusBack(page.getByRole('button', { name }))
  })

  test('the choice of an embeddings model', async () => {
    await openTab('Settings')
    await page.getByRole('button', { name: 'Add a key or a server' }).press('Enter')
    const form = page.getByRole('form', { name: 'Add a provider' })
    await form.getByLabel('Provider').selectOption('compatible')
    await form.getByLabel('Name').fill('Attic')
    await form.getByLabel('Address').fill(`${stage.stub.baseUrl}/`)
    await press('Enter')
    await isFocused(page.getByRole('button', { name: 'Add a key or a server' })).toBe(true)
    await expectFocusBack(page.getByRole('button', { name: 'Choose an embeddings model' }))
  })

  test('in a space', async () => {
    await makeSpace(page, 'Cellar')
    await press('Escape')
    await openTab('Settings')
    await expectFocusBack(page.getByRole('button', { name: 'Change the name' }))
    await expectFocusBack(page.getByRole('button', { name: 'Add a key for this space' }))
    await openTab('Users')
    await expectFocusBack(page.getByRole('button', { name: 'Invite by e-mail' }))
    await switchTo(page, 'Personal')
  })
})

describe('a document that is closed gives the focus', () => {
  test('to the button of the drawer in which it was opened', async () => {
    await openDrawer('Files')
    await file().press('Enter')
    await viewer().waitFor()
    await drawer().waitFor({ state: 'detached' })
    await press('Escape')
    await isFocused(page.getByRole('button', { name: 'Open navigation' })).toBe(true)
  })

  test('to the message box, where it was opened in the palette', async () => {
    await press('Control+k')
    await page.getByRole('combobox').fill('lamps')
    await page.getByRole('option', { name: WORKBOOK }).first().click()
    await viewer().waitFor()
    await page.getByRole('button', { name: 'Close document' }).press('Enter')
    await isFocused(composerOf(page)).toBe(true)
  })

  test('to the file that opened it, after another version was opened in the viewer', async () => {
    await openTab('Files')
    const newer = makeWorkbook([{ name: 'Hall', rows: [['lamp', 'year']] }])
    await files()
      .getByLabel(`Newer version of ${WORKBOOK}`, { exact: true })
      .setInputFiles({ name: WORKBOOK, mimeType: '', buffer: newer })
    await files().getByRole('listitem').filter({ hasText: 'Version 2' }).waitFor()
    await expect.poll(() => file().count()).toBe(1)
    await file().press('Enter')
    await viewer().getByLabel('Version').selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Open version 2' }).press('Enter')
    await viewer().getByRole('button', { name: 'Open version 2' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Close document' }).press('Enter')
    await isFocused(file()).toBe(true)
  })
})
