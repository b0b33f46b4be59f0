/** The page by keyboard alone: every focus is visible, and the focus is never lost. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStage, type Stage, storeConversation } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ environment: { DEFAULT_MODEL: 'alcove-reader' } })
  page = stage.page
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await storeConversation(stage, 'Bees', ['They hum.'])
  await storeConversation(stage, 'Lamps', ['They burn.', '```ts\nconst lamp = 1\n```'])
  await page.evaluate(async () => {
    const form = new FormData()
    for (const name of ['lamp-rules.txt', 'bee-notes.txt'])
      form.append('files', new File([`The ${name} of the reading room, until midnight.`], name, { type: 'text/plain' }))
    await fetch('/api/documents', { method: 'POST', body: form })
  })
  await page.reload()
  await page.getByText('Getting Started').waitFor()
  await page.getByText('Lamps', { exact: true }).first().waitFor()
})
afterAll(() => stage.close())

const press = (...keys: string[]) =>
  keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())

/** The name of the focused element, or its tag; `body` where the focus was lost. */
const focused = () =>
  page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return 'body'
    const label = element.getAttribute('aria-label') ?? element.getAttribute('placeholder') ?? ''
    return (label === '' ? element.textContent.trim().replaceAll(/\s+/g, ' ').slice(0, 60) : label) || element.tagName
  })

/** Whether the focused element looks different without the focus. */
async function focusIsSeen(): Promise<boolean> {
  const clip = await page.evaluate(() => {
    const element = document.activeElement
    const { left, top, right, bottom } = element?.getBoundingClientRect() ?? new DOMRect()
    // Text fields show the focus on the frame around them.
    const reach = element?.matches('input, textarea') === true ? 40 : 3
    const [x, y] = [Math.max(0, left - reach), Math.max(0, top - reach)]
    return { x, y, width: Math.min(innerWidth, right + reach) - x, height: Math.min(innerHeight, bottom + reach) - y }
  })
  if (clip.width <= 6 || clip.height <= 6) return false
  const withFocus = await page.screenshot({ clip, animations: 'disabled' })
  const element = await page.evaluateHandle(() => document.activeElement)
  await element.evaluate((focusedElement) => focusedElement instanceof HTMLElement && focusedElement.blur())
  const without = await page.screenshot({ clip, animations: 'disabled' })
  await element.evaluate(
    (again) => again instanceof HTMLElement && again.focus({ focusVisible: true, preventScroll: true }),
  )
  return !withFocus.equals(without)
}

/** Presses Tab until the wanted element has the focus; `seen` collects the stops. */
async function tabTo(wanted: RegExp, most = 60): Promise<string[]> {
  const seen: string[] = []
  for (let step = 0; step < most; step += 1) {
    await press('Tab')
    const name = await focused()
    seen.push(name)
    if (wanted.test(name)) return seen
  }
  throw new Error(`${String(wanted)} was not reached: ${seen.join(' | ')}`)
}

/** All stops until the focus leaves the page, and those that are invisible. */
async function walk(): Promise<{ stops: string[]; unseen: string[] }> {
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    getSelection()?.removeAllRanges()
  })
  const stops: string[] = []
  const unseen: string[] = []
  for (let step = 0; step < 90; step += 1) {
    await press('Tab')
    const name = await focused()
    if (name === 'body' || (stops.length > 3 && name === stops[0])) break
    stops.push(name)
    if (!(await focusIsSeen())) unseen.push(name)
  }
  return { stops, unseen }
}

describe('every stop is seen', () => {
  test('beside the introduction', async () => {
    const { stops, unseen } = await walk()
    expect(unseen).toEqual([])
    expect(stops).toEqual(
      expect.arrayContaining(['New chat', 'Chat', 'Files', 'Users', 'Settings', 'Search', 'Account']),
    )
    expect(stops).toContain('Upload your first document')
  })

  test.each(['Files', 'Users', 'Settings'])('in the tab %s', async (name) => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true }).press('Enter')
    await page.locator(`nav [aria-label="${name}"][aria-expanded=true]`).waitFor()
    await page.waitForLoadState('networkidle')
    expect((await walk()).unseen).toEqual([])
  })

  test('in a conversation, with the history beside it', async () => {
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('button', { name: 'Chat', exact: true })
      .press('Enter')
    await page.getByRole('listitem').filter({ hasText: 'Lamps' }).getByRole('button').first().press('Enter')
    await page.getByText('They burn.').waitFor()
    const { stops, unseen } = await walk()
    expect(unseen).toEqual([])
    expect(stops).toEqual(expect.arrayContaining(['Delete Lamps', 'Copy answer', 'Good answer', 'Message']))
  })
})

describe('the focus is given back', () => {
  test('by the question before deleting, and by the row that is gone', async () => {
    await page.getByRole('button', { name: 'Delete Bees' }).focus()
    await press('Enter')
    await page.getByRole('alertdialog').waitFor()
    expect(await focused()).toBe('Cancel')
    await press('Escape')
    await expect.poll(focused).toBe('Delete Bees')
  })

  test('by a conversation that is pinned, and unpinned', async () => {
    await page.getByRole('button', { name: 'Pin Bees', exact: true }).focus()
    await press('Enter')
    await page.getByRole('region', { name: 'Pinned Conversations' }).waitFor()
    await expect.poll(focused).toBe('Unpin Bees')
    await press('Enter')
    await page.getByRole('region', { name: 'Pinned Conversations' }).waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Pin Bees')
  })

  test('by the panel that is collapsed', async () => {
    await page.getByRole('button', { name: /^Collapse/ }).focus()
    await press('Enter')
    await expect.poll(focused).toBe('Chat')
    await press('Enter')
    await page.getByText('Chat History').waitFor()
  })

  test.each(['Settings', 'Account'])('by the menu %s', async (name) => {
    await page.getByRole('banner').getByRole('button', { name, exact: true }).focus()
    await press('Enter')
    await page.getByRole('menu').waitFor()
    await press('ArrowDown', 'Escape')
    await expect.poll(focused).toBe(name)
  })

  test('by the palette, from wherever it was opened', async () => {
    await page.getByRole('textbox', { name: 'Message' }).focus()
    await press('Control+k')
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
    await expect.poll(focused).not.toBe('Message')
    await press('Escape')
    await expect.poll(focused).toBe('Message')
  })

  test('by an open document, which Escape closes', async () => {
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('button', { name: 'Files', exact: true })
      .press('Enter')
    await page.getByRole('button', { name: 'bee-notes.txt', exact: true }).press('Enter')
    await page.getByText('of the reading room').last().waitFor()
    await press('Escape')
    await expect.poll(focused).toBe('bee-notes.txt')
  })

  test('by the name that is being changed', async () => {
    await page.getByRole('button', { name: 'Rename bee-notes.txt' }).press('Enter')
    await expect.poll(focused).not.toBe('Rename bee-notes.txt')
    await press('Escape')
    await expect.poll(focused).toBe('Rename bee-notes.txt')
  })

  test('by a document that is deleted', async () => {
    await page.getByRole('button', { name: 'Delete bee-notes.txt' }).press('Enter')
    await page.getByRole('alertdialog').waitFor()
    await tabTo(/^Delete$/, 3)
    await press('Enter')
    await page.getByRole('button', { name: 'bee-notes.txt', exact: true }).waitFor({ state: 'detached' })
    await expect.poll(focused).not.toBe('body')
  })

  test('by the debug panel', async () => {
    await page.getByRole('banner').getByRole('button', { name: 'Account', exact: true }).focus()
    await press('Control+Shift+D')
    await page.getByRole('heading', { name: 'Broadcast Testing Panel' }).waitFor()
    await page.getByRole('button', { name: 'Close panel' }).press('Enter')
    await expect.poll(focused).toBe('Account')
  })

  test('by the drawer of a small page', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('button', { name: 'Open navigation' }).press('Enter')
    await page.getByRole('dialog', { name: 'Navigation' }).waitFor()
    await press('Escape')
    await expect.poll(focused).toBe('Open navigation')
    await page.setViewportSize({ width: 1440, height: 900 })
  })
})

test('whoever comes by keyboard can skip what stands before the conversation', async () => {
  const skip = page.getByRole('link', { name: 'Skip to the conversation' })
  await skip.focus()
  expect(await focusIsSeen()).toBe(true)
  await press('Enter')
  await press('Tab')
  expect(await page.getByRole('main').evaluate((main) => main.contains(document.activeElement))).toBe(true)
})

test('a question is asked, answered and opened at its source without a pointer', async () => {
  await press('Control+k')
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
  await page.keyboard.type('new chat')
  await press('Enter')
  await expect.poll(focused).toBe('Message')
  await page.keyboard.type('Until when does the lamp of the reading room burn?')
  await press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await expect.poll(focused).toBe('Message')
  await page.keyboard.press('Shift+Tab')
  for (let step = 0; step < 20 && !/^Source 1/.test(await focused()); step += 1) await press('Shift+Tab')
  expect(await focused()).toMatch(/^Source 1: lamp-rules\.txt/)
  await press('Enter')
  await page.getByRole('region', { name: 'Reader: lamp-rules.txt' }).waitFor()
  await expect.poll(focused).toBe('Document')
  await press('Escape')
  await expect.poll(focused).toMatch(/^Source 1: lamp-rules\.txt/)
})

test.each([
  ['at twice the size', { width: 720, height: 450 }],
  ['on the narrowest phone', { width: 360, height: 640 }],
  ['on the widest screen', { width: 2560, height: 1440 }],
])('%s nothing scrolls sideways and everything is within reach', async (_, viewport) => {
  await page.setViewportSize(viewport)
  for (const place of ['/', new URL(page.url()).search]) {
    await page.goto(new URL(place, stage.alcove.url).href)
    await page.getByRole('banner').waitFor()
    await page.waitForLoadState('networkidle')
    const beyond = await page.evaluate(() =>
      [...document.querySelectorAll('button, a, input, textarea, h1, h2')]
        .filter((element) => element.checkVisibility() && element.closest('[aria-hidden=true], pre, table') === null)
        .filter((element) => {
          const { left, right, width } = element.getBoundingClientRect()
          return width > 1 && (left < -1 || right > innerWidth + 1)
        })
        .map((element) => element.textContent || element.getAttribute('aria-label')),
    )
    expect(beyond).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
})

test('a menu within a menu is one with it where there is no room beside it', async () => {
  await page.setViewportSize({ width: 360, height: 640 })
  await page.getByRole('banner').getByRole('button', { name: 'Settings' }).press('Enter')
  const light = page.getByRole('menuitemradio', { name: 'Light' })
  const box = await light.boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360)
  await press('Escape')
  await page.setViewportSize({ width: 1440, height: 900 })
})

test('nothing moves for whoever wants no motion', async () => {
  const longest = await page.evaluate(() =>
    Math.max(
      0,
      ...[...document.querySelectorAll('*')].flatMap((element) => {
        const { animationDuration, transitionDuration } = getComputedStyle(element)
        return `${animationDuration},${transitionDuration}`.split(',').map((text) => Number.parseFloat(text))
      }),
    ),
  )
  expect(longest).toBeLessThanOrEqual(0.00001)
})
