/** The three menus of the header (specification, sections 2.8 and 4.6). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
})
afterAll(() => stage.close())

const picker = () => page.getByRole('button', { name: /^Model/ })
const globalModel = () => page.evaluate(() => window.selectedModelIdentifier)

declare global {
  interface Window {
    selectedModelIdentifier?: string
  }
}

test('the default model is selected and badged', async () => {
  await page.getByRole('button', { name: /stub-gpt.*DEFAULT/ }).waitFor()
  expect(await globalModel()).toMatch(/stub-gpt$/)
})

test('models come in groups; those that cannot be used are greyed and say why', async () => {
  await picker().click()
  const menu = page.getByRole('menu')
  await menu.getByText('OpenAI-compatible', { exact: true }).waitFor()
  await menu.getByText('No key is configured for Anthropic.').first().waitFor()
  const unavailable = menu.getByRole('menuitemradio', { name: /Claude 3\.7/ })
  expect(await unavailable.getAttribute('aria-disabled')).toBe('true')
  expect(await unavailable.innerText()).toContain('NEW')
  const chosen = menu.getByRole('menuitemradio', { name: /stub-gpt/ })
  expect(await chosen.getAttribute('aria-checked')).toBe('true')
})

test('a group without a key leads to where one is added', async () => {
  await page.getByRole('menuitem', { name: 'Add a key for Anthropic' }).click()
  await page.getByRole('heading', { name: 'Model providers' }).waitFor()
  await expect.poll(() => page.getByRole('menu').count()).toBe(0)
  await picker().click()
})

test('the list is asked for again, and the menu stays open meanwhile', async () => {
  await stage.stub.configure({ models: 'stub-gpt,stub-later' })
  await page.getByRole('menuitem', { name: 'Refresh models' }).click()
  await page.getByRole('menuitemradio', { name: 'stub-later' }).waitFor()
  await stage.stub.configure({ models: 'stub-gpt' })
  await page.getByRole('menuitem', { name: 'Refresh models' }).click()
  await expect.poll(() => page.getByRole('menuitemradio', { name: 'stub-later' }).count()).toBe(0)
})

test('choosing a model updates the name and the global identifier', async () => {
  await page.getByRole('menuitemradio', { name: /Alcove Reader/ }).click()
  await page.getByRole('button', { name: 'Model: Alcove Reader' }).waitFor()
  expect(await globalModel()).toBe('alcove-reader')
})

test('models that cannot be read leave the built-in one, with a toast', async () => {
  await page.route('**/rest/v1/models**', (route) => route.abort())
  await page.reload()
  await page
    .getByText('Could not load models from the database. Using default models instead.', { exact: true })
    .waitFor()
  await page.getByRole('button', { name: /Alcove Reader/ }).waitFor()
  await page.unrouteAll()
})

test('the menu and the settings tab switch one and the same setting, which outlives a reload', async () => {
  await page.getByRole('banner').getByRole('button', { name: 'Settings' }).click()
  const item = page.getByRole('menuitemcheckbox', { name: /Show Tool Messages/ })
  expect(await item.innerText()).toContain('Display tool outputs in conversations')
  expect(await item.getAttribute('aria-checked')).toBe('true')
  await item.click()
  expect(await item.getAttribute('aria-checked')).toBe('false')
  await page.keyboard.press('Escape')
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
  const toggle = page.getByRole('switch', { name: /Show Tool Messages/ })
  expect(await toggle.getAttribute('aria-checked')).toBe('false')
})

test('the account menu names the person, gives the focus back, and signs out', async () => {
  const button = page.getByRole('button', { name: 'Account', exact: true })
  await button.press('Enter')
  await page.getByRole('menu').getByText('test@alcove.local').waitFor()
  await page.getByRole('menu').getByText('User Account').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true)
  await button.click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await page.waitForURL('**/login')
  expect(await page.title()).toBe('Alcove')
})
