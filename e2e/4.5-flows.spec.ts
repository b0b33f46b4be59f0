/** Requests and page state on starting, continuing, selecting and leaving a chat (specification, sections 4.4, 4.5). */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, storeConversation, userIdOf } from './stage.ts'

interface Call {
  readonly call: string
  readonly body: Record<string, unknown>
}

let stage: Stage
let page: Page
let calls: Call[] = []

beforeAll(async () => {
  // The zone of the browser, which need not be the machine's.
  stage = await openStage({ environment: { TZ: 'UTC' } })
  page = stage.page
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    const body: unknown = request.postDataJSON()
    if (request.method() === 'GET' || !pathname.startsWith('/rest/v1/') || typeof body !== 'object') return
    calls.push({ call: `${request.method()} ${pathname.slice(9)}`, body: { ...body } })
  })
})
afterAll(() => stage.close())
beforeEach(() => {
  calls = []
})

const newChat = () => page.getByRole('button', { name: 'New chat' }).first().click()
const entry = (title: string) => page.getByRole('listitem').filter({ hasText: title })
const open = (title: string) => entry(title).getByRole('button').first().click()
const ofChat = () => calls.filter(({ call }) => /^\w+ (conversations|messages)$/.test(call))
const answered = (times: number) =>
  expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(times)
async function send(text: string): Promise<void> {
  await composerOf(page).fill(text)
  await composerOf(page).press('Control+Enter')
}

test('a chat begins with its conversation, then its question', async () => {
  await newChat()
  await send('What is a lamp?')
  await answered(1)
  const [created, asked, ...others] = ofChat()
  expect(created?.call).toBe('POST conversations')
  const { id, model_name: model, started_at: startedAt, ...rest } = created?.body ?? {}
  expect(rest).toEqual({ uid: await userIdOf(page), title: 'New conversation', ended_at: null, metadata: {} })
  expect(String(model)).toContain('stub-gpt')
  expect(String(startedAt)).toMatch(/^\d{4}-\d\d-\d\dT/)
  expect(asked?.call).toBe('POST messages')
  expect(asked?.body).toMatchObject({
    conversation_id: id,
    content: 'What is a lamp?',
    sender_role: 1,
  })
  expect(asked?.body).not.toHaveProperty('metadata')
  expect(others).toEqual([])
  expect(new URL(page.url()).searchParams.get('chat')).toBe(id)
})

test('going on with another model changes the model of the conversation, then stores the question', async () => {
  await page.getByRole('button', { name: /^Model/ }).click()
  await page.getByRole('menuitemradio', { name: /Alcove Reader/ }).click()
  await send('And a lantern?')
  await answered(2)
  const [changed, asked, ...others] = ofChat()
  expect(changed).toEqual({ call: 'PATCH conversations', body: { model_name: 'alcove-reader' } })
  expect(asked?.body).toMatchObject({ content: 'And a lantern?', sender_role: 1 })
  expect(others).toEqual([])
})

test('a page in another time zone than the server says so with a question, whose days it means', async () => {
  await page.route('**/config.json', async (route) => {
    const response = await route.fetch()
    const given = (await response.json()) as Record<string, unknown>
    await route.fulfill({ response, json: { ...given, timeZone: 'Pacific/Chatham' } })
  })
  await page.reload()
  await send('And yesterday?')
  await answered(3)
  expect(ofChat().map(({ body }) => body)).toMatchObject([{ content: 'And yesterday?', metadata: { timeZone: 'UTC' } }])
  await page.unrouteAll({ behavior: 'wait' })
})

test('selecting a chat takes the temporary message away, and hides the introduction', async () => {
  await storeConversation(stage, 'Bees', ['They hum.'])
  await page.goto(stage.alcove.url)
  await page.getByText('Getting Started', { exact: true }).waitFor()
  await open('Bees')
  await page.getByText('They hum.').waitFor()
  await newChat()
  expect(await page.getByText('Getting Started', { exact: true }).count()).toBe(0)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route('**/rest/v1/conversations**', async (route) => {
    if (route.request().method() === 'POST') await promise
    await route.continue()
  })
  await send('Will you wait for me?')
  await page.getByRole('article').getByText('Will you wait for me?').waitFor()
  await open('Bees')
  await page.getByText('They hum.').waitFor()
  expect(await page.getByText('Will you wait for me?').count()).toBe(0)
  resolve(undefined)
  await page.unrouteAll({ behavior: 'wait' })
  // The chat is stored, but the page does not return to it.
  await expect.poll(() => page.getByRole('region', { name: 'Conversations' }).getByRole('listitem').count()).toBe(3)
  await page.getByText('They hum.').waitFor()
})

test('the external id is that of the metadata, else the own one, and none where the chat cannot be read', async () => {
  const id = randomUUID()
  const named = { id, uid: await userIdOf(page), title: 'Wasps', model_name: 'alcove-reader' }
  await stage.insert('conversations', [{ ...named, metadata: { conversation_id: 'outside-7' } }])
  await page.keyboard.press('Control+Shift+D')
  const external = page.locator('dt', { hasText: 'External id' }).locator('+ dd')
  await open('Wasps')
  await expect.poll(() => external.innerText()).toBe('outside-7')
  await open('Bees')
  await expect.poll(() => external.innerText()).toBe(new URL(page.url()).searchParams.get('chat'))
  await newChat()
  await expect.poll(() => external.innerText()).toBe('none')
  await page.route(/\/(rest|api)\/.*conversations/, (route) => route.abort())
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await page.getByText('Failed to load conversations').waitFor()
  await page.keyboard.press('Control+Shift+D')
  expect(await external.innerText()).toBe('none')
  await page.unrouteAll()
})
