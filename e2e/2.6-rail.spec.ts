/** The icon rail and the panels of its tabs (specification, section 2.6). */
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

const rail = () => page.getByRole('navigation', { name: 'Main' })
const tab = (name: string) => rail().getByRole('button', { name, exact: true })
const panel = () => page.locator('#side-panel')
const isOpen = (name: string) => tab(name).getAttribute('aria-expanded')

test('it is 72 px wide, with the logo above four tabs, of which chat is open', async () => {
  expect((await rail().boundingBox())?.width).toBe(72)
  const names = await rail()
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')))
  expect(names).toEqual(['Alcove: start a new chat', 'Chat', 'Files', 'Users', 'Settings'])
  expect(await Promise.all(['Chat', 'Files', 'Users', 'Settings'].map(isOpen))).toEqual([
    'true',
    'false',
    'false',
    'false',
  ])
  await panel().getByText('Chat History').waitFor()
})

test('each tab opens its own panel in place of the other', async () => {
  for (const [name, heading] of [
    ['Files', 'Files'],
    ['Users', 'Profile'],
    ['Settings', 'Appearance'],
    ['Chat', 'Chat History'],
  ] as const) {
    await tab(name).click()
    await panel().getByRole('heading', { name: heading }).waitFor()
    expect(await panel().count()).toBe(1)
    expect(await isOpen(name)).toBe('true')
  }
})

test('each panel begins with its name, at one height', async () => {
  const heights: number[] = []
  for (const [name, heading] of [
    ['Files', 'Files'],
    ['Users', 'Account'],
    ['Settings', 'Settings'],
    ['Chat', 'Chat History'],
  ] as const) {
    await tab(name).click()
    const box = await panel().getByRole('heading', { name: heading, exact: true }).boundingBox()
    heights.push((box?.y ?? NaN) + (box?.height ?? NaN) / 2)
  }
  expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(1)
})

test('pressing the open tab again collapses the panel, a third time opens it', async () => {
  await tab('Chat').click()
  await panel().waitFor({ state: 'detached' })
  expect(await isOpen('Chat')).toBe('false')
  await tab('Chat').click()
  await panel().getByText('Chat History').waitFor()
})

test('the logo starts a new chat', async () => {
  await startChat(page, 'A question')
  expect(new URL(page.url()).searchParams.has('chat')).toBe(true)
  await tab('Alcove: start a new chat').click()
  await page.getByRole('heading', { name: 'Welcome back!' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
})
