/** The files tab: upload with progress and state, preview, rename, delete, sort, filter, and selecting many. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage } from './stage.ts'

let stage: Stage
let page: Page

const NAMES = ['Lease', 'Rent 2', 'Rent 10', 'apples', 'Bread', 'Candles', 'Desk', 'Envelopes', 'Figs', 'Grapes']

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
})
afterAll(() => stage.close())

const files = () => page.getByRole('region', { name: 'Files' })
const row = (name: string) =>
  files()
    .getByRole('listitem')
    .filter({ has: page.getByText(name, { exact: true }) })
const shown = async () =>
  (await files().getByRole('listitem').getByTitle('.txt').allInnerTexts()).map((name) => name.trim())
const upload = (names: readonly string[]) =>
  page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles(
      names.map((name) => ({
        name: `${name}.txt`,
        mimeType: 'text/plain',
        buffer: Buffer.from(`${name} stands in here.`),
      })),
    )

test('screen readers hear of an upload twice, and of no percentage', async () => {
  await page.evaluate(() => {
    const heard: string[] = []
    Object.assign(window, { heard })
    const library = document.querySelector('[aria-label="Library"]') ?? document.body
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement
        const region = element?.closest('[aria-live=polite], [role=status]')
        if (region != null && region.textContent !== '') heard.push(region.textContent)
      }
    }).observe(library, { childList: true, characterData: true, subtree: true })
  })
  await upload(['Heard', 'Read aloud'])
  await row('Heard.txt').waitFor()
  const heard = () => page.evaluate(() => (window as typeof window & { heard: string[] }).heard)
  await expect.poll(heard).toEqual(['Uploading 2 files', '2 files ready'])
  for (const name of ['Heard.txt', 'Read aloud.txt']) {
    await page
      .getByRole('button', { name: `Delete ${name}` })
      .first()
      .click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await row(name).waitFor({ state: 'detached' })
  }
})

test('names in scripts from right to left begin at the right', async () => {
  const name = 'דוח שנתי של חדר הקריאה'
  await upload([name])
  const direction = (label: string, within = page.getByRole('region', { name: label })) =>
    within
      .getByText(`${name}.txt`, { exact: true })
      .first()
      .evaluate((element) => getComputedStyle(element).direction)
  await row(`${name}.txt`).waitFor()
  expect(await direction('Files')).toBe('rtl')
  await row(`${name}.txt`)
    .getByRole('button', { name: `${name}.txt`, exact: true })
    .click()
  expect(await direction(`Reader: ${name}.txt`)).toBe('rtl')
  await page.getByRole('button', { name: 'Close document' }).click()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(name)
  const found = page.getByRole('option', { name }).getByText(name).first()
  expect(await found.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
  await page.keyboard.press('Escape')
  await row(`${name}.txt`)
    .getByRole('button', { name: `Delete ${name}.txt` })
    .click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await row(`${name}.txt`).waitFor({ state: 'detached' })
})

test('each file shows how far it is, and what the server refuses says why', async () => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/api/documents', async (route) => {
    await held
    await route.continue()
  })
  await upload(['Lease'])
  const uploads = page.getByRole('list', { name: 'Uploads' })
  await uploads.getByRole('progressbar').waitFor()
  release()
  await row('Lease.txt').waitFor()
  await page.unroute('**/api/documents')
  await expect.poll(() => row('Lease.txt').getAttribute('data-state')).toBe('ready')
  // The library shows finished files.
  await uploads.waitFor({ state: 'detached' })
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({ name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('no pdf') })
  await uploads.getByText('broken.pdf').waitFor()
  await expect
    .poll(() => uploads.getByRole('listitem').filter({ hasText: 'broken.pdf' }).getAttribute('data-state'))
    .toBe('failed')
})

test('a document opens beside the conversation, and is renamed and deleted', async () => {
  await row('Lease.txt').getByRole('button', { name: 'Lease.txt', exact: true }).click()
  await page.getByText('Lease stands in here.').waitFor()
  expect(await files().locator('[aria-current=true]').allInnerTexts()).toEqual(['Lease.txt'])
  await row('Lease.txt').getByRole('button', { name: 'Rename Lease.txt' }).click()
  const field = page.getByLabel('New name of Lease.txt')
  expect((await field.boundingBox())?.width).toBeGreaterThan(220)
  expect(await row('Lease.txt').getByRole('button').count()).toBe(0)
  await field.fill('Contract.txt')
  await field.press('Enter')
  await row('Contract.txt').waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await expect.poll(focused).toBe('Rename Contract.txt')
  await row('Contract.txt').getByRole('button', { name: 'Delete Contract.txt' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => row('Contract.txt').count()).toBe(0)
})

test('whoever goes elsewhere while a name is changed is not fetched back', async () => {
  await upload(['Draft'])
  await row('Draft.txt').getByRole('button', { name: 'Rename Draft.txt' }).click()
  await page.getByLabel('New name of Draft.txt').fill('Deed.txt')
  await page.getByRole('banner').getByRole('button', { name: 'Account', exact: true }).focus()
  await row('Deed.txt').getByRole('button', { name: 'Rename Deed.txt' }).waitFor()
  await page.getByLabel(/^New name of/).waitFor({ state: 'detached' })
  // Two frames: effects after drawing the new name have run by then.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Account')
  await row('Deed.txt').getByRole('button', { name: 'Delete Deed.txt' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => row('Deed.txt').count()).toBe(0)
})

test('a name whose field is left as it was stays as it was renamed elsewhere', async () => {
  await upload(['Notice'])
  await row('Notice.txt').getByRole('button', { name: 'Rename Notice.txt' }).click()
  const other = await page.context().newPage()
  await other.goto(stage.alcove.url)
  await other.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await other.getByRole('button', { name: 'Rename Notice.txt' }).click()
  await other.getByLabel('New name of Notice.txt').fill('Warning.txt')
  await other.getByLabel('New name of Notice.txt').press('Enter')
  const field = page.getByLabel('New name of Warning.txt')
  await field.waitFor()
  await field.blur()
  await row('Warning.txt').getByRole('button', { name: 'Delete Warning.txt' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => row('Warning.txt').count()).toBe(0)
  await other.close()
})

test('many are sorted by name as people count, by date, and filtered', async () => {
  await upload(NAMES)
  await expect.poll(() => files().getByRole('listitem').count()).toBe(NAMES.length)
  await files().getByRole('button', { name: 'Sort by name' }).click()
  const byName = ['apples', 'Bread', 'Candles', 'Desk', 'Envelopes', 'Figs', 'Grapes', 'Lease', 'Rent 2', 'Rent 10']
  expect(await shown()).toEqual(byName.map((name) => `${name}.txt`))
  await files()
    .getByRole('button', { name: /^Sort by name/ })
    .click()
  expect(await shown()).toEqual(byName.toReversed().map((name) => `${name}.txt`))
  await files()
    .getByRole('button', { name: /^Sort by name/ })
    .click()
  await files().getByLabel('Filter documents by name').fill('RENT')
  expect(await shown()).toEqual(['Rent 2.txt', 'Rent 10.txt'])
  await files().getByLabel('Filter documents by name').fill('nothing like it')
  await files().getByRole('button', { name: 'Show all' }).click()
  expect(await shown()).toHaveLength(NAMES.length)
})

const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

test('many are selected with the keyboard alone, and asked about', async () => {
  await files().getByRole('button', { name: 'Select', exact: true }).press('Enter')
  await expect.poll(focused).toBe('Select apples.txt')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  expect(await focused()).toBe('Select Desk.txt')
  await files().getByText('3 selected').waitFor()
  await page.keyboard.press('Control+a')
  await files().getByText(`${NAMES.length} selected`).waitFor()
  await page.keyboard.press('Control+a')
  await files().getByText('None selected').waitFor()
  expect(await files().getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await expect.poll(() => files().getByRole('checkbox').count()).toBe(0)
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Select')

  await files().getByRole('button', { name: 'Select', exact: true }).click()
  await files().getByLabel('Select Bread.txt').check()
  await files()
    .getByLabel('Select Desk.txt')
    .click({ modifiers: ['Shift'] })
  await files().getByText('3 selected').waitFor()
  await files().getByLabel('Select Candles.txt').uncheck()
  await files().getByRole('button', { name: 'Ask about these' }).click()
  await expect.poll(() => composerOf(page).inputValue()).toBe('@knowledge “Bread.txt”, “Desk.txt”: ')
})

test.each([
  { width: 1440, height: 500 },
  { width: 390, height: 600 },
])('at $width pixels what can be done with the selected stays above the rows in view', async (viewport) => {
  await page.setViewportSize(viewport)
  const isDrawer = viewport.width === 390
  if (isDrawer) await page.getByRole('button', { name: 'Open navigation' }).click()
  await files().getByRole('button', { name: 'Select', exact: true }).click()
  const last = files().getByRole('checkbox').last()
  await last.check()
  const bar = files().getByRole('toolbar', { name: 'Selected documents' })
  expect((await bar.boundingBox())?.y).toBeGreaterThanOrEqual(0)
  const isFree = (): Promise<boolean> =>
    bar.evaluate((one) => {
      const { top = 0 } = document.activeElement?.getBoundingClientRect() ?? {}
      return one.getBoundingClientRect().bottom <= top
    })
  for (let row = NAMES.length; row > 0; row -= 1) {
    await expect.poll(isFree).toBe(true)
    await page.keyboard.press('ArrowUp')
  }
  await files().getByRole('button', { name: 'Done' }).click()
  if (isDrawer) await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1440, height: 900 })
})

test('many are deleted at once; those that cannot be stay, and are counted', async () => {
  await files().getByRole('button', { name: 'Select', exact: true }).click()
  for (const name of ['Bread', 'Candles', 'Desk']) await files().getByLabel(`Select ${name}.txt`).check()
  const refused: string[] = []
  await page.route(/\/(rest\/v1|api)\/documents[?/].*/, (route) => {
    const address = decodeURIComponent(route.request().url())
    const [first = address] = refused
    if (route.request().method() !== 'DELETE') return route.fallback()
    const id = /[0-9a-f-]{36}/.exec(address)?.[0] ?? ''
    if (refused.length === 0) refused.push(id)
    return first.includes(id) ? route.abort() : route.fallback()
  })
  await page.keyboard.press('Delete')
  const dialog = page.getByRole('alertdialog', { name: 'Delete Documents' })
  await dialog.getByText(/these 3 documents/).waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1 of 3 documents could not be deleted. Please try again.', { exact: true }).waitFor()
  await page.unrouteAll()
  await expect.poll(() => files().getByRole('listitem').count()).toBe(NAMES.length - 2)
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await expect.poll(() => files().getByRole('listitem').count()).toBe(NAMES.length - 2)
})

test('other tabs follow', async () => {
  const other = await page.context().newPage()
  await other.goto(stage.alcove.url)
  await other.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await other.getByText('Figs.txt').first().waitFor()
  await row('Figs.txt').getByRole('button', { name: 'Delete Figs.txt' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => other.getByText('Figs.txt').count()).toBe(0)
})
