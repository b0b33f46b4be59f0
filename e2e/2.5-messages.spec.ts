/** Rendering of each kind of message, and arrival of new ones (specification, sections 2.5 and 4.4). */
import { createClient } from '@supabase/supabase-js'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillConversation } from '#test/fill-conversation.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

const LONG_OUTPUT = `${'abcdefghi '.repeat(9)}abcdefgh €, and what does not fit`
const ERROR = { code: 'provider', message: 'The model had an error of its own (500).', retryable: true }

let stage: Stage
let page: Page
let chat: string

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.alcove.url })
  chat = await fillConversation(stage.dataDir, { title: 'About lamps', model: 'openai-compatible/stub-gpt' }, [
    { sender_role: 1, content: 'How long does it burn?', created_at: '2026-03-04T15:07:00Z' },
    { sender_role: 3, content: LONG_OUTPUT, metadata: { tool_name: 'knowledge', duration_ms: 41.6 } },
    { sender_role: 3, content: 'Short', metadata: {} },
    { sender_role: 2, content: 'Until **midnight**.' },
    { sender_role: 1, content: 'And then?' },
    { sender_role: 2, content: '' },
    { sender_role: 1, content: 'And in winter?' },
    { sender_role: 2, content: '', metadata: { error: ERROR } },
  ])
  await page.goto(`${stage.alcove.url}/?chat=${chat}`)
  await answers().first().waitFor()
})
afterAll(() => stage.close())

const questions = () => page.getByRole('article', { name: 'Your message' })
const answers = () => page.getByRole('article', { name: 'Answer' })
const tools = () => page.getByRole('article', { name: 'Tool output' })
const setToolMessages = async (shown: boolean) => {
  await page.getByRole('banner').getByRole('button', { name: 'Settings' }).click()
  const menu = page.getByRole('menu', { name: 'Settings' })
  // The menu is drawn before it listens; it handles keys once it has the focus.
  await expect.poll(() => menu.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  const item = menu.getByRole('menuitemcheckbox', { name: /Show Tool Messages/ })
  if ((await item.getAttribute('aria-checked')) !== String(shown)) await item.click()
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
}

test('a question stands at the right and shows hour and minute', async () => {
  const question = questions().first()
  expect(await question.locator('time').innerText()).toBe('3:07 pm')
  const [own, answer] = await Promise.all([question.boundingBox(), answers().first().boundingBox()])
  const [questionBox, answerBox] = [own ?? { x: 0, width: 0 }, answer ?? { x: 0, width: 0 }]
  expect(questionBox.x).toBeGreaterThan(answerBox.x + 100)
})

test('an answer carries thumbs and a copy button; only the first one has the badge', async () => {
  for (const name of ['Good answer', 'Poor answer', 'Copy answer']) {
    await answers().first().getByRole('button', { name, exact: true }).waitFor()
  }
  expect(await answers().first().getByText('Using your knowledge', { exact: true }).count()).toBe(1)
  expect(await page.getByText('Using your knowledge').count()).toBe(1)
})

test('thumbs are one choice, kept over a reload', async () => {
  const thumb = (name: string) => answers().first().getByRole('button', { name, exact: true })
  await thumb('Good answer').click()
  await expect.poll(() => thumb('Good answer').getAttribute('aria-pressed')).toBe('true')
  const isStored = page.waitForResponse(
    (response) => response.url().includes('/message_feedback') && response.request().method() === 'PATCH',
  )
  await thumb('Poor answer').click()
  await expect.poll(() => thumb('Good answer').getAttribute('aria-pressed')).toBe('false')
  await isStored
  await page.keyboard.press('Escape')
  await page.reload()
  await expect.poll(() => thumb('Poor answer').getAttribute('aria-pressed')).toBe('true')
})

test('a rating that hangs holds up the next one of its answer, and no other', async () => {
  let held: Route | undefined
  const sent: string[] = []
  await page.route('**/rest/v1/message_feedback**', async (route) => {
    const method = route.request().method()
    if (method === 'GET') return route.continue()
    sent.push(method)
    if (held !== undefined) return route.continue()
    held = route
  })
  const thumb = (answer: number) => answers().nth(answer).getByRole('button', { name: 'Good answer', exact: true })
  await thumb(0).click()
  await expect.poll(() => sent).toEqual(['PATCH'])
  await thumb(0).click()
  const isStored = page.waitForResponse(
    (response) => response.url().includes('/message_feedback') && response.request().method() === 'POST',
  )
  await thumb(1).click()
  expect((await isStored).status()).toBe(201)
  expect(sent).toEqual(['PATCH', 'POST'])
  await held?.continue()
  await expect.poll(() => sent).toEqual(['PATCH', 'POST', 'DELETE'])
  await page.unrouteAll({ behavior: 'wait' })
})

test('the copy button copies the answer and says so', async () => {
  await answers().first().getByRole('button', { name: 'Copy answer' }).click()
  await answers().first().getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('Until')
})

test('a tool message shows name, duration, 100 characters of its output, and done', async () => {
  await setToolMessages(true)
  const [first, second] = [tools().nth(0), tools().nth(1)]
  await first.getByText('knowledge', { exact: true }).waitFor()
  await first.getByText('42ms', { exact: true }).waitFor()
  await first.getByText('done', { exact: true }).waitFor()
  const shown = Array.from(LONG_OUTPUT).slice(0, 100).join('')
  expect(await first.locator('summary').innerText()).toContain(`${shown}...`)
  await second.getByText('tool', { exact: true }).waitFor()
  expect(await second.locator('summary').innerText()).toMatch(/Short/)
  expect(await second.locator('summary').innerText()).not.toMatch(/ms|\.\.\./)
  await first.locator('summary').click()
  await first.getByText('and what does not fit').waitFor()
})

test('tool messages are gone while they are switched off', async () => {
  await setToolMessages(false)
  await tools().first().waitFor({ state: 'detached' })
  await setToolMessages(true)
  await tools().first().waitFor()
})

test('an answer without content says that it is unavailable', async () => {
  await answers().nth(1).getByText('Message content unavailable', { exact: true }).waitFor()
})

test('a failed answer shows why, and Retry, and no badge', async () => {
  const failed = answers().nth(2)
  await failed.getByText(ERROR.message, { exact: true }).waitFor()
  await failed.getByRole('button', { name: 'Retry' }).waitFor()
})

test('each message says which of how many it is', async () => {
  const places = await page
    .getByRole('feed')
    .getByRole('article')
    .evaluateAll((all) => all.map((article) => `${article.ariaPosInSet} of ${article.ariaSetSize}`))
  expect(places[0]).toBe('1 of 8')
  expect(places.at(-1)).toBe('8 of 8')
})

test('a sent message shows at once, and the box waits until the answer is there', async () => {
  await stage.stub.configure({ hold: 0 })
  await composerOf(page).fill('Do you see it at once?')
  await composerOf(page).press('Control+Enter')
  await questions().last().getByText('Do you see it at once?').waitFor({ timeout: 1000 })
  await page.getByPlaceholder('Waiting for AI response...').waitFor()
  await page.getByRole('status').filter({ hasText: 'Thinking' }).waitFor()
  await stage.stub.release()
  await page.getByPlaceholder('Ask anything... (Try typing @ for tools)').waitFor()
  await stage.stub.configure({ hold: -1 })
  expect(await questions().last().innerText()).toContain('Do you see it at once?')
})

test('messages that others store come in once, in order', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/keys.ts'], {
    env: { ...process.env, DATA_DIR: stage.dataDir },
  })
  const { serviceRoleKey } = JSON.parse(stdout) as { serviceRoleKey: string }
  const service = createClient(stage.alcove.url, serviceRoleKey, { auth: { persistSession: false } })
  const before = await answers().count()
  for (const content of ['First from outside', 'Second from outside']) {
    const { error } = await service.from('messages').insert({ conversation_id: chat, content, sender_role: 2 })
    expect(error).toBeNull()
  }
  await answers().getByText('Second from outside').waitFor()
  expect(await answers().count()).toBe(before + 2)
  expect(await answers().last().innerText()).toContain('Second from outside')
})

test('a finished answer is announced once, as a whole', async () => {
  const spoken = page.locator('[aria-live=polite]').filter({ hasNot: page.getByRole('list') })
  await page.evaluate(() => {
    const heard: string[] = []
    Object.assign(window, { heard })
    for (const region of document.querySelectorAll('main [aria-live=polite]')) {
      new MutationObserver(() => heard.push(region.textContent)).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      })
    }
  })
  await composerOf(page).fill('Say it [[stub tokens=60 tps=60 content=plain]]')
  await composerOf(page).press('Control+Enter')
  const wanted = 'The quick brown fox'
  await expect
    .poll(() => spoken.allInnerTexts().then((texts) => texts.some((text) => text.includes(wanted))))
    .toBe(true)
  const heard = await page.evaluate(() => (window as unknown as { heard: string[] }).heard)
  expect(heard.filter((text) => text.includes(wanted))).toHaveLength(1)
})

test('of a very long question its beginning is shown, and the rest for who wants it', async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `Line ${index} of what was put in.`)
  const long = await fillConversation(stage.dataDir, { title: 'Long', model: 'openai-compatible/stub-gpt' }, [
    { sender_role: 1, content: lines.join('\n') },
    { sender_role: 2, content: 'That is long.' },
  ])
  await page.goto(`${stage.alcove.url}/?chat=${long}`)
  await answers().first().waitFor()
  const height = async () => (await questions().first().boundingBox())?.height ?? 0
  expect(await height()).toBeLessThan(500)
  const [more, less] = ['Show more', 'Show less'].map((name) => questions().first().getByRole('button', { name }))
  await more?.click()
  await less?.waitFor()
  expect(await height()).toBeGreaterThan(5_000)
  await less?.click()
  await expect.poll(height).toBeLessThan(500)
  await expect.poll(() => questions().first().getByText('Line 0 of').isVisible()).toBe(true)
  expect(await more?.getAttribute('aria-expanded')).toBe('false')
})
