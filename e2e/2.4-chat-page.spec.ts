/** The states of the main area, and the page at every width (specification, section 2.4). */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, startChat, storeConversation, userIdOf } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
})
afterAll(() => stage.close())

const heading = (name: string) => page.getByRole('main').getByRole('heading', { name, exact: true })
const newChat = () => page.getByRole('button', { name: 'New chat' }).first()

/** Holds matching responses until the returned function releases them. */
async function hold(pattern: RegExp): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route(pattern, async (route) => {
    await promise
    await route.continue()
  })
  return async () => {
    resolve(undefined)
    await page.unrouteAll({ behavior: 'wait' })
  }
}

test('the input bar is not there while the onboarding is shown', async () => {
  await page.getByText('Getting Started').waitFor()
  expect(await composerOf(page).count()).toBe(0)
})

test('an empty new chat greets and offers three suggestions that fill the box', async () => {
  await newChat().click()
  await heading('Welcome back!').waitFor()
  await page.getByText('Ask me anything or use one of the suggestions below', { exact: true }).waitFor()
  const suggestions = page.getByRole('main').getByRole('listitem').getByRole('button')
  expect(await suggestions.count()).toBe(3)
  for (const [index, subject] of [/note-taking/, /daily tasks/, /knowledge base/].entries()) {
    await suggestions.nth(index).click()
    await expect.poll(() => composerOf(page).inputValue()).toMatch(subject)
  }
  await composerOf(page).fill('')
})

test('a conversation that is being created shows its question, the model and that an answer is awaited', async () => {
  const letGo = await hold(/\/rest\/v1\/conversations/)
  await composerOf(page).fill('How do lamps work?')
  await composerOf(page).press('Control+Enter')
  await heading('New Conversation').waitFor()
  await page.getByRole('main').getByText('stub-gpt').waitFor()
  await page.getByRole('article').getByText('How do lamps work?').waitFor()
  await page.getByText('Thinking…').waitFor()
  expect(await composerOf(page).getAttribute('placeholder')).toBe('Waiting for AI response...')
  expect(await composerOf(page).isDisabled()).toBe(true)
  await letGo()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
})

test('a conversation that is being created names the model by its identifier', async () => {
  const choose = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: /^Model: / }).click()
    await page.getByRole('menuitemradio', { name, exact: true }).click()
  }
  await newChat().click()
  const letGo = await hold(/\/rest\/v1\/conversations/)
  await composerOf(page).fill('How do wicks work?')
  await composerOf(page).press('Control+Enter')
  await heading('New Conversation').waitFor()
  await choose('Alcove Reader')
  await page.getByRole('main').getByText('alcove-reader', { exact: true }).waitFor()
  await choose('stub-gpt DEFAULT')
  await page.getByRole('main').getByText('openai-compatible/stub-gpt', { exact: true }).waitFor()
  await letGo()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
})

test('a conversation that is loading says so, and names no model before it is known', async () => {
  const letGo = await hold(/\/rest\/v1\/(messages|conversations)/)
  await page.reload()
  await page.getByText('Loading conversation...', { exact: true }).waitFor()
  await page.getByRole('button', { name: /stub-gpt/ }).waitFor()
  expect(await page.getByRole('main').innerText()).not.toContain('Claude-3')
  await letGo()
  await page.getByRole('main').getByText('stub-gpt').waitFor()
})

test('a conversation without title, model and messages shows the words for that', async () => {
  const id = randomUUID()
  await stage.insert('conversations', [{ id, uid: await userIdOf(page), title: null, model_name: '' }])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await heading('Conversation').waitFor()
  await page.getByText('Start by asking a question or uploading a document', { exact: true }).waitFor()
  await page.getByRole('main').getByText('New Conversation', { exact: true }).waitFor()
  await page.getByRole('main').getByText('Claude-3', { exact: true }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'Untitled conversation' }).waitFor()
})

test('a message without content says so', async () => {
  const { id } = await storeConversation(stage, 'Nothing said', [''])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await page.getByText('Message content unavailable', { exact: true }).waitFor()
})

test('with documents and no conversation open their list is shown', async () => {
  await page.evaluate(async () => {
    const form = new FormData()
    form.append('files', new File(['Pears keep until March.'], 'pear-notes.txt', { type: 'text/plain' }))
    await fetch('/api/documents', { method: 'POST', body: form })
  })
  await newChat().click()
  await heading('Your Documents').waitFor()
  await page.getByRole('main').getByText('pear-notes.txt').waitFor()
  await page.getByText('1 document indexed').waitFor()
})

test('a reply that ends while nobody looks is told in the title of the tab, until somebody does', async () => {
  const look = (hidden: boolean) =>
    page.evaluate((isHidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  await startChat(page, 'First question')
  await composerOf(page).fill('Second question')
  await look(true)
  await composerOf(page).press('Control+Enter')
  await expect.poll(() => page.title()).toMatch(/^● .+ · Alcove$/)
  await look(false)
  await expect.poll(() => page.title()).toMatch(/^[^●].+ · Alcove$/)
})

test('rail and panel have their widths, and the text is never wider than its measure', async () => {
  await page.setViewportSize({ width: 2560, height: 1200 })
  const widthOf = (selector: string) =>
    page.locator(selector).evaluate((element) => element.getBoundingClientRect().width)
  expect(await widthOf('nav[aria-label="Main"]')).toBe(72)
  expect(await widthOf('#side-panel')).toBe(290)
  expect(
    await page
      .getByRole('article')
      .first()
      .evaluate((element) => element.clientWidth),
  ).toBeLessThan(960)
})

test.each([360, 390, 640, 768, 899, 900, 1024, 1279, 1280, 1440, 1920, 2560])(
  'nothing scrolls sideways at %i px',
  async (width) => {
    await page.setViewportSize({ width, height: 800 })
    const overflowing = () =>
      page.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll('main, main *, header, nav')]
          .filter((element) => {
            const { overflowX } = getComputedStyle(element)
            const scrolls = element === document.documentElement || overflowX === 'auto' || overflowX === 'scroll'
            return scrolls && !element.closest('pre, table') && element.scrollWidth > element.clientWidth
          })
          .map((element) => element.className || element.tagName),
      )
    await expect.poll(overflowing).toEqual([])
    const send = page.getByRole('button', { name: 'Send message' })
    const box = await send.boundingBox()
    expect(box && box.x + box.width).toBeLessThanOrEqual(width)
  },
)

test('on a phone rail and panel are one drawer, which gives the focus back', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  const opener = page.getByRole('button', { name: 'Open navigation' })
  await opener.click()
  const drawer = page.getByRole('dialog', { name: 'Navigation' })
  await drawer.getByText('Chat History').waitFor()
  await drawer.getByRole('button', { name: 'Settings' }).waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  await expect.poll(() => opener.evaluate((element) => element === document.activeElement)).toBe(true)
})

test('the message box stays above an on-screen keyboard that lies over the page', async () => {
  await composerOf(page).focus()
  await page.evaluate(() => {
    if (visualViewport === null) return
    Object.defineProperty(visualViewport, 'height', { configurable: true, value: 480 })
    visualViewport.dispatchEvent(new Event('resize'))
  })
  const bottom = () => composerOf(page).evaluate((element) => element.getBoundingClientRect().bottom)
  await expect.poll(bottom).toBeLessThan(480)
  expect(await bottom()).toBeGreaterThan(300)
  await page.reload()
})

test('motion stops for whoever wants none', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Search and commands' })
  const seconds = await dialog.evaluate((element) => Number.parseFloat(getComputedStyle(element).animationDuration))
  expect(seconds).toBeLessThan(0.001)
  await page.keyboard.press('Escape')
  await page.emulateMedia({ reducedMotion: null })
})
