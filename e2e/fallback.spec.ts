/** The direct calls of `/rest/v1` fail, and everything works over the product's own API (specification, section 7). */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AlcoveProcess, startAlcove } from '#test/alcove.ts'
import { copyStartedDataDir } from '#test/started-data.ts'
import { ask, openBrowser, openPage, signInWithTestAccount } from './browser.ts'

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: AlcoveProcess
let browser: Browser
let page: Page
const logged: string[] = []
let refused = 0

beforeAll(async () => {
  folder = await copyStartedDataDir()
  alcove = await startAlcove({ DATA_DIR: folder.dataDir })
  browser = await openBrowser()
  ;({ page } = await openPage(browser, alcove.url))
  await page.route('**/rest/v1/**', async (route) => {
    refused += 1
    await route.fulfill({
      status: 500,
      contentType: 'application/json',
      body: '{"message":"broken on purpose","code":"XX000","details":null,"hint":null}',
    })
  })
  page.on('console', (message) => {
    if (message.type() === 'error') logged.push(message.text())
  })
  await signInWithTestAccount(page)
})
afterAll(async () => {
  await browser.close()
  await alcove.end()
  await folder.remove()
})

test('creating and sending work, and the reply arrives', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, 'Which lamp burns longest?')
  await page.getByRole('article').getByText('You have no documents yet.').waitFor()
})

/** The only conversation in the list, under any title. */
const entry = () => page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /^(Pin|Unpin) / }) })

test('pinning works', async () => {
  await entry().hover()
  await page.getByRole('button', { name: /^Pin / }).first().click()
  await page.getByText('Conversation pinned', { exact: true }).waitFor()
  await page.getByText('Pinned Conversations').waitFor()
})

test('listing and opening work after a reload', async () => {
  await page.goto(alcove.url)
  await page.getByText('Pinned Conversations').waitFor()
  await entry().getByRole('button').first().click()
  await page.getByRole('article').getByText('You have no documents yet.').waitFor()
  await page.getByRole('article').getByText('Which lamp burns longest?').waitFor()
})

test('deleting works', async () => {
  await entry().hover()
  await page
    .getByRole('button', { name: /^Delete / })
    .first()
    .click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No conversations yet').waitFor()
})

test('each direct call was tried first, and its failure was logged', () => {
  expect(refused).toBeGreaterThan(5)
  expect(logged.some((line) => line.includes('broken on purpose'))).toBe(true)
})
