/** The hidden panel that exercises realtime (specification, section 2.11). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, type Stage, startChat } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
})
afterAll(() => stage.close())

const panel = () => page.getByRole('region', { name: 'Broadcast Testing Panel' })
const log = () => panel().getByRole('log')
const idOf = (name: string) => panel().locator('div', { has: page.getByText(name, { exact: true }) }).locator('dd').last() // prettier-ignore

test('Ctrl+Shift+D shows and hides it', async () => {
  await expect.poll(() => panel().count()).toBe(0)
  await page.keyboard.press('Control+Shift+KeyD')
  await panel().getByRole('heading', { name: 'Broadcast Testing Panel' }).waitFor()
  await page.keyboard.press('Control+Shift+KeyD')
  await expect.poll(() => panel().count()).toBe(0)
})

test('it shows the person, the open chat and its external id', async () => {
  await page.keyboard.press('Control+Shift+KeyD')
  expect(await idOf('User id').innerText()).toMatch(/^[0-9a-f-]{36}$/)
  expect(await idOf('Active chat id').innerText()).toBe('none')
  const chatId = await startChat(page, 'A question')
  expect(await idOf('Active chat id').innerText()).toBe(chatId)
  expect(await idOf('External id').innerText()).toBe(chatId)
})

test('each test passes over the real connection', async () => {
  for (const [button, result] of [
    ['Check connection', /Connected: joined the channel in \d+\.\d ms/],
    ['Test broadcast over the socket', /Socket: the message came back in \d+\.\d ms/],
    ['Test broadcast over HTTP', /HTTP: the message came back in \d+\.\d ms/],
  ] as const) {
    await panel().getByRole('button', { name: button }).click()
    await log().getByText(result).waitFor()
  }
})

test('a failure is said, and the next test can be run', async () => {
  await page.route('**/realtime/v1/api/broadcast/**', (route) => route.fulfill({ status: 500, body: '{}' }))
  await panel().getByRole('button', { name: 'Test broadcast over HTTP' }).click()
  await log()
    .getByText(/Test broadcast over HTTP failed/)
    .waitFor()
  await page.unrouteAll()
  await panel().getByRole('button', { name: 'Check connection' }).click()
  await expect
    .poll(() =>
      log()
        .getByText(/Connected/)
        .count(),
    )
    .toBe(2)
  await panel().getByRole('button', { name: 'Close panel' }).click()
  await expect.poll(() => panel().count()).toBe(0)
})
