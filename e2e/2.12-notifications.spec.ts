/** Toasts: one at a time, for five seconds, closed by a swipe, focused with F8 (specification, sections 2.12 and 9). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openStage, type Stage, storeConversation } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await storeConversation(stage, 'Bees', ['They hum.'])
})
afterAll(() => stage.close())
beforeEach(async () => {
  await page.reload()
  await page.getByText('Chat History').waitFor()
})

const toasts = () =>
  page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Close notification' }) })
const title = (words: string) => toasts().getByText(words, { exact: true })

async function press(name: string): Promise<void> {
  await page.getByRole('listitem').filter({ hasText: 'Bees' }).hover()
  await page.getByRole('button', { name, exact: true }).click()
}

test('a new one takes the place of the older one', async () => {
  await press('Pin Bees')
  await title('Conversation pinned').waitFor()
  await press('Unpin Bees')
  await title('Conversation unpinned').waitFor()
  expect(await toasts().count()).toBe(1)
  expect(await toasts().getAttribute('data-variant')).toBe('default')
})

test('F8 goes to it, and it stays while the focus is there', async () => {
  await press('Pin Bees')
  await title('Conversation pinned').waitFor()
  await page.keyboard.press('F8')
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('OL')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe('Close notification')
  await page.keyboard.press('Enter')
  await toasts().waitFor({ state: 'detached' })
  await press('Unpin Bees')
  await title('Conversation unpinned').waitFor()
})

/** Drags the toast to the right by this many pixels. */
async function swipe(pixels: number): Promise<void> {
  const box = await toasts().boundingBox()
  if (box === null) throw new Error('there is no toast')
  const [x, y] = [box.x + 40, box.y + 8]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + pixels / 2, y, { steps: 4 })
  await page.mouse.move(x + pixels, y, { steps: 4 })
  await page.mouse.up()
}

test('a swipe to the right of more than 50 pixels puts it away, a shorter one does not', async () => {
  await press('Pin Bees')
  await title('Conversation pinned').waitFor()
  await swipe(40)
  await title('Conversation pinned').waitFor()
  await swipe(70)
  await toasts().waitFor({ state: 'detached' })
  await press('Unpin Bees')
})

test('it goes by itself after five seconds, and not before', async () => {
  await page.evaluate(() => {
    const start = window.setTimeout.bind(window)
    const delays: number[] = []
    Object.assign(window, { delays })
    window.setTimeout = ((run: () => void, delay?: number, ...rest: unknown[]) => {
      delays.push(delay ?? 0)
      return start(run, delay, ...rest)
    }) as typeof setTimeout
  })
  await press('Pin Bees')
  await title('Conversation pinned').waitFor()
  expect(await page.evaluate(() => (window as unknown as { delays: number[] }).delays)).toContain(5000)
  await page.mouse.move(5, 5)
  await toasts().waitFor({ state: 'detached' })
})

test('over the drawer of a phone screen readers find it too', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Open navigation' }).click()
  await page.getByRole('dialog', { name: 'Navigation' }).waitFor()
  expect(await page.getByRole('main').count()).toBe(0)
  await press('Unpin Bees')
  await title('Conversation unpinned').waitFor()
  expect(await toasts().count()).toBe(1)
  await press('Pin Bees')
  await title('Conversation pinned').waitFor()
  await page.setViewportSize({ width: 1440, height: 900 })
})

test('it is at most 420 pixels wide on a wide page, and as wide as a narrow one', async () => {
  await press('Unpin Bees')
  await title('Conversation unpinned').waitFor()
  const width = () =>
    page
      .getByRole('region', { name: /Notifications/ })
      .locator('ol')
      .evaluate((list) => list.clientWidth)
  expect(await width()).toBe(420)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(width).toBe(390)
  await page.setViewportSize({ width: 1440, height: 900 })
})
