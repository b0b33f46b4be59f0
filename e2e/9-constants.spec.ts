/** Sizes and timings of the controls (specification, sections 2.10 and 9). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, signInWithTestAccount } from './browser.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
})
afterAll(() => stage.close())

const button = (name: string) => page.getByRole('button', { name, exact: true })

/** Records the delays of the page's timers. */
const watchTimers = () =>
  page.evaluate(() => {
    const start = window.setTimeout.bind(window)
    const delays: number[] = []
    Object.assign(window, { delays })
    window.setTimeout = ((run: () => void, delay?: number, ...rest: unknown[]) => {
      delays.push(delay ?? 0)
      return start(run, delay, ...rest)
    }) as typeof setTimeout
  })
const delays = () => page.evaluate(() => (window as unknown as { delays: number[] }).delays)

test('a tooltip opens after 700 ms, 4 px away, and its neighbours at once within 300 ms', async () => {
  // A page with a fake clock: real pointer movement takes as long as the machine is busy.
  const { page: timed } = await openPage(stage.browser, stage.alcove.url)
  await signInWithTestAccount(timed)
  const on = (name: string) => timed.getByRole('button', { name, exact: true })
  // The name of the model moves the button beside it away from the pointer.
  await on('Model: stub-gpt DEFAULT').waitFor()
  const tooltip = timed.getByRole('tooltip')
  await timed.clock.install()
  await timed.clock.pauseAt(Date.now() + 60_000)
  const explains = async (name: string) => {
    await tooltip.waitFor()
    expect(await tooltip.innerText()).toContain(name)
  }

  await on('Search').hover()
  await timed.clock.runFor(699)
  expect(await tooltip.count()).toBe(0)
  await timed.clock.runFor(1)
  await explains('Search')
  const [trigger, content] = await Promise.all([on('Search').boundingBox(), tooltip.boundingBox()])
  if (trigger === null || content === null) throw new Error('the tooltip is not to be seen')
  const below = content.y - (trigger.y + trigger.height)
  const above = trigger.y - (content.y + content.height)
  expect(Math.round(Math.max(below, above))).toBe(4)

  const leave = async () => {
    await timed.mouse.move(700, 500, { steps: 4 })
    await expect.poll(() => tooltip.count()).toBe(0)
  }
  await leave()
  await timed.clock.runFor(299)
  await on('New chat').hover()
  await explains('New chat')

  await leave()
  await timed.clock.runFor(300)
  await on('Search').hover()
  await timed.clock.runFor(699)
  expect(await tooltip.count()).toBe(0)
  await timed.clock.runFor(1)
  await explains('Search')
  await timed.context().close()
})

test('letters typed into a menu find an entry, and are forgotten after 1000 ms', async () => {
  await page.reload()
  await page.getByRole('button', { name: /^Model/ }).click()
  await page.getByRole('menu').waitFor()
  await watchTimers()
  await page.keyboard.type('alc')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Alcove Reader')
  expect(await delays()).toContain(1000)
  await page.keyboard.press('Escape')
})

test('a menu within a menu opens 100 ms after the pointer, which then has 300 ms to come to it', async () => {
  await page.reload()
  await page.getByRole('banner').getByRole('button', { name: 'Settings' }).click()
  const entry = page.getByRole('menuitem', { name: 'Appearance' })
  await entry.waitFor()
  await watchTimers()
  await entry.hover()
  await page.getByRole('menuitemradio', { name: 'Light' }).waitFor()
  expect(await delays()).toContain(100)
  const [from, to] = await Promise.all([
    entry.boundingBox(),
    page.getByRole('menuitemradio', { name: 'Light' }).boundingBox(),
  ])
  if (from === null || to === null) throw new Error('the menus are not to be seen')
  expect(await delays()).not.toContain(300)
  // Straight to the entry, across the entries below the previous one.
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 })
  expect(await delays()).toContain(300)
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Light')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Appearance')
  expect(await page.getByRole('menuitemradio').count()).toBe(0)
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => page.evaluate(() => document.activeElement?.role)).toBe('menuitemradio')
  await page.keyboard.type('li')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Light')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light')
  await page.evaluate(() => localStorage.removeItem('alcove-ui-theme'))
  await page.reload()
})

test('the message box has two rows and grows from 60 to 200 px', async () => {
  await button('New chat').first().click()
  const box = composerOf(page)
  const height = () => box.evaluate((element) => element.getBoundingClientRect().height)
  expect(await box.getAttribute('rows')).toBe('2')
  expect(await height()).toBe(60)
  await box.fill('line\n'.repeat(40))
  await expect.poll(height).toBe(200)
  await box.fill('')
  await expect.poll(height).toBe(60)
})

test('the theme is dark at first, follows the system, and keeps a choice', async () => {
  const theme = () => page.evaluate(() => document.documentElement.dataset['theme'])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.reload()
  await expect.poll(theme).toBe('dark')
  await page.evaluate(() => localStorage.setItem('alcove-ui-theme', 'system'))
  await page.reload()
  await expect.poll(theme).toBe('light')
  await page.evaluate(() => localStorage.setItem('alcove-ui-theme', 'dark'))
  await page.reload()
  await expect.poll(theme).toBe('dark')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.evaluate(() => localStorage.removeItem('alcove-ui-theme'))
  await page.reload()
  await expect.poll(theme).toBe('dark')
})
