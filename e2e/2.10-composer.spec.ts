/** The message box, and how the thread scrolls after sending (specification, sections 2.4, 2.10, 4.5, 5). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, focusedMenuOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await page.getByRole('button', { name: 'New chat' }).first().click()
})
afterAll(() => stage.close())

/** Distance of the thread from its end, in CSS pixels. */
const distanceToEnd = (): Promise<number> =>
  page.evaluate(() => {
    let frame = document.querySelector('article')?.parentElement
    while (frame && getComputedStyle(frame).overflowY !== 'auto') frame = frame.parentElement
    return frame ? frame.scrollHeight - frame.scrollTop - frame.clientHeight : -1
  })

test('a new chat begins with the focus in the box; a suggestion fills it', async () => {
  await expect.poll(() => composerOf(page).evaluate((box) => box === document.activeElement)).toBe(true)
  await expect.poll(() => page.getByRole('button', { name: 'Send message' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Help me manage my daily tasks and productivity' }).click()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Help me manage my daily tasks and productivity')
})

test('a box that comes once the page is loaded leaves an open menu alone', async () => {
  await composerOf(page).fill('')
  await page.goto(stage.alcove.url)
  await page.getByRole('button', { name: 'Dismiss getting started' }).click()
  await composerOf(page).waitFor()
  const { promise: opened, resolve: open } = Promise.withResolvers<undefined>()
  await page.route('**/rest/v1/user_settings*', async (route) => {
    await opened
    await route.fallback()
  })
  await page.reload()
  await page.getByRole('banner').getByRole('button', { name: 'Settings' }).click()
  await focusedMenuOf(page).waitFor()
  open(undefined)
  await composerOf(page).waitFor()
  await page.getByRole('menuitem', { name: 'Appearance' }).press('ArrowRight')
  await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await page.reload()
  await page.getByRole('button', { name: 'New chat' }).first().click()
})

test('@ offers the tools, filtered by what is typed; Tab takes the first, Escape closes', async () => {
  const tools = page.getByRole('listbox', { name: 'Tools' })
  await composerOf(page).fill('')
  await composerOf(page).pressSequentially('Look @')
  await expect.poll(() => tools.getByRole('option').allInnerTexts()).toHaveLength(3)
  await composerOf(page).pressSequentially('k')
  await expect
    .poll(async () => (await tools.getByRole('option').allInnerTexts()).join())
    .toContain('access knowledge base')
  await composerOf(page).press('Tab')
  await expect.poll(() => composerOf(page).inputValue()).toBe('Look @knowledge ')
  await composerOf(page).pressSequentially('mail@')
  await expect.poll(() => tools.count()).toBe(0)
  await composerOf(page).pressSequentially(' @')
  await composerOf(page).press('Escape')
  await expect.poll(() => tools.count()).toBe(0)
})

test('a typed command is highlighted, and Enter takes the one that is offered', async () => {
  await composerOf(page).fill('')
  await composerOf(page).pressSequentially('Ask @w')
  const offered = page.getByRole('listbox', { name: 'Tools' }).getByRole('option')
  await expect.poll(() => offered.allInnerTexts()).toHaveLength(1)
  expect(await offered.innerText()).toMatch(/@web\s+browse websites/)
  await composerOf(page).press('Enter')
  await expect.poll(() => composerOf(page).inputValue()).toBe('Ask @web ')
  await expect.poll(() => page.locator('main mark').allInnerTexts()).toEqual(['@web'])
  await composerOf(page).fill('@')
  await expect.poll(() => offered.allInnerTexts()).toHaveLength(3)
  const words = (await offered.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  expect(words).toEqual([
    expect.stringContaining('@search search for information'),
    expect.stringContaining('@web browse websites'),
    expect.stringContaining('@knowledge access knowledge base'),
  ])
})

test('the line under the box says what is private and how to send', async () => {
  const footer = page.getByRole('main').locator('footer').last()
  await footer.getByText('Your data stays private', { exact: true }).waitFor()
  await footer.getByText('Press Ctrl+Enter to send', { exact: true }).waitFor()
  expect(await footer.getByText(/indexed/).count()).toBe(0)
})

test('what was typed outlives a reload, and words of space alone are not sent', async () => {
  await composerOf(page).fill('A thought to keep')
  await page.reload()
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await expect.poll(() => composerOf(page).inputValue()).toBe('A thought to keep')
  await composerOf(page).fill('  \n ')
  await composerOf(page).press('Control+Enter')
  await expect.poll(() => page.getByRole('article').count()).toBe(0)
})

test('while an answer is awaited the box is disabled; afterwards it has the focus again', async () => {
  await composerOf(page).fill('  Tell me [[stub tokens=60 hold=0]]  ')
  await composerOf(page).press('Control+Enter')
  await page.getByPlaceholder('Waiting for AI response...').waitFor()
  await expect.poll(() => composerOf(page).isDisabled()).toBe(true)
  expect(await page.getByRole('article', { name: 'Your message' }).locator('p').innerText()).toBe(
    'Tell me [[stub tokens=60 hold=0]]',
  )
  await stage.stub.release()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await expect.poll(() => composerOf(page).evaluate((box) => box === document.activeElement)).toBe(true)
})

test('the focus stays with whoever has moved it meanwhile', async () => {
  await composerOf(page).fill('And more [[stub tokens=40 hold=0]]')
  await composerOf(page).press('Control+Enter')
  await page.getByPlaceholder('Search conversations...').focus()
  await stage.stub.release()
  await page.getByRole('button', { name: 'Good answer' }).nth(1).waitFor()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Search conversations')
})

test('the view follows the answer, and leaves alone a reader who has scrolled up a little', async () => {
  await composerOf(page).fill('At length [[stub tokens=9000 tps=300]]')
  await composerOf(page).press('Control+Enter')
  const answer = page.getByRole('article', { name: 'Answer' }).last()
  await answer.getByRole('heading', { name: /Section 2/ }).waitFor()
  await expect.poll(distanceToEnd).toBeLessThanOrEqual(1)
  await page.mouse.move(700, 400)
  await page.mouse.wheel(0, -30)
  await expect.poll(distanceToEnd).toBeGreaterThan(1)
  await answer.getByRole('heading', { name: /Section 4/ }).waitFor()
  expect(await distanceToEnd()).toBeGreaterThan(100)
})

test('Stop ends the waiting and keeps what was written', async () => {
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('You stopped this answer.').waitFor()
  await page.getByPlaceholder('Ask anything... (Try typing @ for tools)').waitFor()
})

test('what could not be sent stands in the box again, in its own conversation', async () => {
  await page.route('**/messages**', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await composerOf(page).fill('Lost words')
  await composerOf(page).press('Control+Enter')
  await page.getByText('Failed to process your message. Please try again.', { exact: true }).waitFor()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Lost words')
  await expect.poll(() => page.getByRole('article').getByText('Lost words').count()).toBe(0)
  await page.unrouteAll()
  await startChat(page, 'Elsewhere')
  await expect.poll(() => composerOf(page).inputValue()).toBe('')
})

test('a history that cannot be read offers to try again', async () => {
  let reads = 0
  // Status 500, because a read that finds no server is repeated without a press.
  await page.route('**/messages**', (route) => {
    reads += 1
    return route.fulfill({ status: 500, body: '' })
  })
  // Its reader follows the messages too, and comes later than the chat.
  const unread = page.waitForResponse(/rpc\/unread_conversations/)
  await page.reload()
  await page.getByText('Failed to load chat history. Please try again.').waitFor()
  await unread
  // The data service, then the product's own API.
  expect(reads).toBe(2)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('article').getByText('Elsewhere').waitFor()
})

test('what the browser has no room to keep can be typed, and stands in the box again where it was not sent', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  await page.evaluate(() => {
    const room = (size: number): boolean => {
      try {
        localStorage.setItem('filler', 'x'.repeat(size))
        return true
      } catch {
        return false
      }
    }
    // Halving steps: a store of many megabytes for each step of 4096 took longer than the test may.
    let size = 0
    for (let step = 8 * 1024 * 1024; step >= 1024; step /= 2) if (room(size + step)) size += step
  })
  const text = 'A very long thought. '.repeat(400)
  await composerOf(page).fill(text)
  expect(await composerOf(page).inputValue()).toBe(text)
  await page.route('**/messages**', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await composerOf(page).press('Control+Enter')
  await toastOf(page).getByText('Failed to send message. Please try again.', { exact: true }).waitFor()
  await page.getByText('Start by asking a question or uploading a document').waitFor()
  await expect.poll(() => composerOf(page).inputValue()).toBe(text.trim())
  expect(faults).toEqual([])
  await page.unrouteAll()
  await page.evaluate(() => localStorage.removeItem('filler'))
})

test('the box grows with its lines where it becomes narrower, and shrinks again', async () => {
  await composerOf(page).fill('The lamps of the reading room burn until midnight. '.repeat(6).trim())
  const heights = () => composerOf(page).evaluate((box) => [box.clientHeight, box.scrollHeight])
  const [wide = 0] = await heights()
  await page.setViewportSize({ width: 1000, height: 800 })
  await expect.poll(async () => (await heights())[0]).toBeGreaterThan(wide)
  const [narrow, text] = await heights()
  expect(narrow).toBe(text)
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect.poll(heights).toEqual([wide, wide])
  await composerOf(page).fill('')
})
