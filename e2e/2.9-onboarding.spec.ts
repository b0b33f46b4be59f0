/** The welcome card for new people, and the walk-through (specification, sections 2.5 and 2.9). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage } from './stage.ts'

declare global {
  interface Window {
    /** Timers of 300 ms that are held back. */
    held?: (() => void)[]
  }
}

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
})
afterAll(() => stage.close())

const card = () => page.getByRole('region', { name: /Welcome, test|your AI assistant/ })
const tutorial = () => page.getByRole('button', { name: 'Watch tutorial' })

test('the card comes 300 ms after the page', async () => {
  await page.addInitScript(() => {
    const start = window.setTimeout.bind(window)
    const held: (() => void)[] = []
    window.held = held
    window.setTimeout = ((run: () => void, delay?: number, ...rest: unknown[]) =>
      delay === 300 ? held.push(run) : start(run, delay, ...rest)) as typeof setTimeout
  })
  await page.reload()
  await page.getByText('No conversations yet').waitFor()
  await expect.poll(() => page.evaluate(() => window.held?.length ?? 0)).toBeGreaterThan(0)
  expect(await card().count()).toBe(0)
  await page.evaluate(() => window.held?.forEach((run) => run()))
  await card().waitFor()
})

test('it begins at 1 of 4 steps, with three ways to go on', async () => {
  const second = await page.context().newPage()
  await second.goto(stage.alcove.url)
  await second.getByText('Getting Started', { exact: true }).waitFor()
  await second.getByText('1 of 4 steps').waitFor()
  await second
    .getByText(
      'Alcove learns from your documents and answers your questions using your data. It helps you analyse documents, ' +
        'assists with research and content creation, and keeps everything private in your workspace.',
      { exact: true },
    )
    .waitFor()
  const progress = second.getByRole('progressbar', { name: 'Onboarding' })
  expect(await progress.getAttribute('aria-valuenow')).toBe('25')
  for (const name of ['Upload your first document', 'Try a sample question', 'Watch tutorial'])
    await second.getByRole('button', { name }).waitFor()
  expect(await composerOf(second).count()).toBe(0)
  await page.close()
  page = second
})

test('the drop area is hidden until it is asked for, and hidden again', async () => {
  const zone = page.getByText('Drag files here or tap to upload')
  expect(await zone.count()).toBe(0)
  const button = page.getByRole('button', { name: 'Upload your first document' })
  await button.click()
  await zone.waitFor()
  await page.getByText('Max file size: 25MB').waitFor()
  await button.click()
  await zone.waitFor({ state: 'detached' })
})

test('the walk-through shows the sample query and the sample source, marked as an example', async () => {
  await tutorial().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('1 of 4').waitFor()
  expect(await dialog.locator('svg').count()).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Next' }).click()
  const query = dialog.getByRole('figure', { name: 'Example' })
  await query.getByRole('blockquote').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  const source = dialog.getByRole('figure', { name: 'Example' })
  await source.getByText('Source: Document.pdf p.3', { exact: true }).waitFor()
  await source.getByText('98% confidence', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => tutorial().evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await page.getByText('98% confidence').count()).toBe(0)
})

test('finishing it is a step', async () => {
  await tutorial().click()
  for (let step = 1; step < 4; step += 1) await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Finish' }).click()
  await page.getByText('2 of 4 steps').waitFor()
  await page.reload()
  await page.getByText('2 of 4 steps').waitFor()
})

test('the sample question hides the card and stands in the box, with a document that answers it', async () => {
  await page.getByRole('button', { name: 'Try a sample question' }).click()
  await expect
    .poll(() => composerOf(page).inputValue())
    .toBe('Where does the word alcove come from, and what was an alcove used for?')
  await expect.poll(() => composerOf(page).evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await card().count()).toBe(0)
})

test('a text that was typed and not sent is in view again after a reload, without the card', async () => {
  await composerOf(page).fill('Half a question')
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Half a question')
  expect(await card().count()).toBe(0)
  await composerOf(page).fill('')
})

test('once there is a document another button leads to the message box', async () => {
  await page.reload()
  await page.getByText('3 of 4 steps').waitFor()
  await page.getByRole('button', { name: 'Upload your first document' }).waitFor()
  await page.getByRole('button', { name: 'Ask a question' }).click()
  await expect.poll(() => composerOf(page).evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await card().count()).toBe(0)
})

test('who dismisses the card does not see it again', async () => {
  await page.reload()
  await page.getByText('3 of 4 steps').waitFor()
  await page.getByRole('button', { name: 'Dismiss getting started' }).click()
  await page.getByRole('heading', { name: 'Your Documents' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Your Documents' }).waitFor()
  await page.getByRole('main').getByText('A short history of the alcove.txt').waitFor()
})
