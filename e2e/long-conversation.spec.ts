/** A conversation of many messages: initial scroll position, loading above, and following the stream. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillConversation } from '#test/fill-conversation.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

const MESSAGES = 600

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  const chat = await fillConversation(
    stage.dataDir,
    { title: 'Very long', model: 'openai-compatible/stub-gpt' },
    Array.from({ length: MESSAGES }, (_, index) =>
      index % 2 === 0
        ? { sender_role: 1, content: `Question ${index}` }
        : { sender_role: 2, content: `Answer ${index}.\n\n- one\n- two\n\n\`\`\`ts\nlet a = ${index}\n\`\`\`` },
    ),
  )
  await page.goto(`${stage.alcove.url}/?chat=${chat}`)
  await page.getByText(`Answer ${MESSAGES - 1}.`).waitFor()
})
afterAll(() => stage.close())

const articles = () => page.getByRole('feed').getByRole('article')

const distanceToEnd = () =>
  page.evaluate(() => {
    let view = document.querySelector('[role=feed]')
    while (view !== null && getComputedStyle(view).overflowY !== 'auto') view = view.parentElement
    return view === null ? NaN : view.scrollHeight - view.scrollTop - view.clientHeight
  })

test('opens at the newest message, with few of them drawn', async () => {
  await expect.poll(distanceToEnd).toBeLessThan(2)
  expect(await articles().count()).toBeLessThan(100)
  expect(await articles().last().getAttribute('aria-setsize')).toBe('-1')
})

test('what is read does not move when older messages load above', async () => {
  const moved = await page.evaluate(async () => {
    const feed = document.querySelector('[role=feed]')
    let view = feed
    while (view !== null && getComputedStyle(view).overflowY !== 'auto') view = view.parentElement
    if (view === null || feed === null) return NaN
    const frame = () => new Promise(requestAnimationFrame)
    const edge = view.getBoundingClientRect().top
    let most = 0
    const before = feed.querySelectorAll('article').length
    for (let step = 0; step < 60 && feed.querySelectorAll('article').length < before + 100; step += 1) {
      view.scrollTop -= view.clientHeight
      await frame()
      const watched = [...feed.querySelectorAll('article')].find(
        (article) => article.getBoundingClientRect().bottom > edge + 40,
      )
      const top = watched?.getBoundingClientRect().top ?? NaN
      for (let frames = 0; frames < 15; frames += 1) {
        await frame()
        most = Math.max(most, Math.abs((watched?.getBoundingClientRect().top ?? NaN) - top))
      }
    }
    return feed.querySelectorAll('article').length >= before + 100 ? most : NaN
  })
  expect(moved).toBeLessThan(1)
})

test('words far from the view are still on the page, for the browser to find', async () => {
  expect(await page.getByText(`Answer ${MESSAGES - 1}.`).count()).toBe(1)
  const inView = await page.getByText(`Answer ${MESSAGES - 1}.`).evaluate((element) => {
    const { top } = element.getBoundingClientRect()
    return top < innerHeight
  })
  expect(inView).toBe(false)
})

test('a reader who went up is left alone by what is written below or told above, and can go to the end', async () => {
  const top = () =>
    articles()
      .nth(20)
      .evaluate((element) => Math.round(element.getBoundingClientRect().top))
  await composerOf(page).fill('Go on [[stub tokens=300 hold=150]]')
  await composerOf(page).press('Control+Enter')
  await page.getByRole('heading', { name: 'Section 1: how the pieces fit together' }).waitFor()
  await expect.poll(distanceToEnd).toBeLessThan(60)
  await page.mouse.move(700, 400)
  await page.mouse.wheel(0, -900)
  await expect.poll(distanceToEnd).toBeGreaterThan(500)
  const before = await top()
  await stage.stub.release()
  await page.getByPlaceholder('Ask anything... (Try typing @ for tools)').waitFor()
  expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1)
  const refused = { name: 'tool.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') }
  await page.locator('input[type=file]').first().setInputFiles(refused)
  await page.getByRole('button', { name: '1 file could not be read' }).waitFor()
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThanOrEqual(1)
  await page.getByRole('button', { name: 'Hide uploads' }).click()
  await page.getByRole('button', { name: 'Hide uploads' }).waitFor({ state: 'detached' })
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThanOrEqual(1)
  await page.getByRole('button', { name: 'To the newest message' }).click()
  await expect.poll(distanceToEnd).toBeLessThan(2)
})
