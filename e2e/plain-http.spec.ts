/** A page on plain http, as on a home network: browsers withhold UUIDs, hashing, the clipboard and the microphone there. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AlcoveProcess, startAlcove } from '#test/alcove.ts'
import { makePdf } from '#test/make-pdf.ts'
import { freePort } from '#test/path-proxy.ts'
import { copyStartedDataDir } from '#test/started-data.ts'
import { ask, openBrowser, openPage } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { composerOf } from './stage.ts'

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: AlcoveProcess
let browser: Browser
let page: Page
let faults: readonly string[]

beforeAll(async () => {
  folder = await copyStartedDataDir()
  const port = await freePort()
  const url = `http://nas.lan:${port}`
  alcove = await startAlcove({ DATA_DIR: folder.dataDir, PORT: `${port}`, PUBLIC_URL: url, AUTH_AUTOCONFIRM: 'true' })
  browser = await openBrowser(['--host-resolver-rules=MAP nas.lan 127.0.0.1'])
  ;({ page, faults } = await openPage(browser, url))
  await signUp(page, freshAddress('nas'))
})
afterAll(async () => {
  await browser.close()
  await alcove.end()
  await folder.remove()
})

const upload = (name: string, buffer: Buffer) =>
  page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({ name, mimeType: name.endsWith('.pdf') ? 'application/pdf' : 'text/plain', buffer })
const library = () => page.getByRole('region', { name: 'Library' })

test('files are sent, equal ones once, and read', async () => {
  expect(await page.evaluate(() => [isSecureContext, 'subtle' in crypto, 'clipboard' in navigator])).toEqual([
    false,
    false,
    false,
  ])
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await upload('harbour.pdf', makePdf(['The harbour office closes at five in the afternoon.']))
  await library().locator('[data-state=ready]').filter({ hasText: 'harbour.pdf' }).first().waitFor()
  await upload('copy.pdf', makePdf(['The harbour office closes at five in the afternoon.']))
  await library().getByText('already in your library', { exact: false }).first().waitFor()
})

test('a question is asked, answered, opened at its source and copied', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await ask(page, 'When does the harbour office close?')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await page.getByRole('button', { name: 'Copy answer' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await composerOf(page).focus()
  await page.keyboard.press('Control+v')
  await expect.poll(() => composerOf(page).inputValue()).toContain('closes at five in the afternoon')
  await composerOf(page).fill('')
  await page
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click()
  await page
    .getByRole('region', { name: /^Reader: / })
    .getByText('The harbour office closes at five in the afternoon.')
    .waitFor()
  await page.getByRole('button', { name: 'Close document' }).click()
})

test('the microphone, which browsers refuse there, is not offered, and nothing fails', async () => {
  expect(await page.getByRole('button', { name: 'Speak your message' }).count()).toBe(0)
  expect(faults).toEqual([])
})
