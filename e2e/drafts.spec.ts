/** Typed text is never lost: while it is sent, when its conversation is deleted elsewhere, and between two tabs. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, startChat, storeConversation, toastOf } from './stage.ts'

const FAKE_MICROPHONE = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream']

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ switches: FAKE_MICROPHONE })
  page = stage.page
})
afterAll(() => stage.close())
afterEach(() => page.unrouteAll({ behavior: 'ignoreErrors' }))

const questions = () => page.getByRole('article', { name: 'Your message' })
const isReady = () => expect.poll(() => composerOf(page).isEnabled()).toBe(true)

/** Requests that write to these tables are not answered. @param reach whether they reach the server */
async function hang(path: RegExp, { reach }: { reach: boolean }): Promise<void> {
  await page.route(path, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    if (reach) await route.fetch()
  })
}

async function send(text: string): Promise<void> {
  await composerOf(page).fill(text)
  await composerOf(page).press('Control+Enter')
}

const letThrough = () => page.unrouteAll({ behavior: 'ignoreErrors' })

test('a first question that no server answers is in the box again after a reload, and is sent once', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await hang(/\/conversations/, { reach: false })
  await send('Is anybody there? [[stub tokens=5]]')
  await questions().waitFor()
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Is anybody there? [[stub tokens=5]]')
  await letThrough()
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  expect(await questions().count()).toBe(1)
  await page.reload()
  await questions().waitFor()
  await isReady()
  expect(await composerOf(page).inputValue()).toBe('')
})

test('so is a further one; one that the server has after all leaves the box', async () => {
  await startChat(page, 'First [[stub tokens=5]]')
  await hang(/\/messages/, { reach: false })
  await send('Second [[stub tokens=5]]')
  await questions().nth(1).waitFor()
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Second [[stub tokens=5]]')
  await letThrough()
  await hang(/\/messages/, { reach: true })
  await composerOf(page).press('Control+Enter')
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(2)
  await page.reload()
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(2)
  await isReady()
  await expect.poll(() => composerOf(page).inputValue()).toBe('')
  await expect
    .poll(() => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes(':sent:'))))
    .toEqual([])
  expect(await questions().count()).toBe(2)
  await letThrough()
  await send('Second [[stub tokens=5]]')
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(3)
})

test('a question whose answers are lost for the time limits is in the box again, and is not asked twice', async () => {
  await startChat(page, 'One [[stub tokens=5]]')
  await page.clock.install()
  await hang(/\/messages/, { reach: true })
  const direct = page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/rest/v1/'))
  await send('Two [[stub tokens=5]]')
  await direct
  const fallback = page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/api/'))
  await page.clock.fastForward(10_000)
  await fallback
  await page.clock.fastForward(30_000)
  await toastOf(page).getByText('Failed to process your message. Please try again.').waitFor()
  await letThrough()
  await isReady()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Two [[stub tokens=5]]')
  await composerOf(page).press('Control+Enter')
  await expect.poll(() => composerOf(page).inputValue()).toBe('')
  await page.reload()
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(2)
  expect(await questions().count()).toBe(2)
})

test('what was typed and spoken in a conversation that is deleted elsewhere is in the box of a new one', async () => {
  const { id } = await storeConversation(stage, 'Harbour', ['The pilot waits.'])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await page.getByText('The pilot waits.').waitFor()
  await page.route(/\/api\/(transcribe|openai)/, (route) => route.abort())
  await page.getByRole('button', { name: 'Speak your message' }).click()
  await page.getByText('0:01', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop recording' }).click()
  await page.getByText('Recording kept.').waitFor()
  await composerOf(page).fill('Half a question')
  await page.evaluate((gone) => fetch(`/api/conversations/${gone}`, { method: 'DELETE' }), id)
  await toastOf(page).getByText('Chat deleted', { exact: true }).waitFor()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Half a question')
  await page.getByText('Recording kept.').waitFor()
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Half a question')
  await page.getByRole('button', { name: 'Discard recording' }).click()
  await composerOf(page).fill('')
})

test('what the person deletes in this tab takes its text along', async () => {
  const { id } = await storeConversation(stage, 'Quay', ['The crane rests.'])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await page.getByText('The crane rests.').waitFor()
  await composerOf(page).fill('Not worth asking')
  await page.getByRole('listitem').filter({ hasText: 'Quay' }).hover()
  await page.getByRole('button', { name: 'Delete Quay' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await toastOf(page).getByText('Chat deleted', { exact: true }).waitFor()
  await composerOf(page).waitFor()
  expect(await composerOf(page).inputValue()).toBe('')
  expect(await page.evaluate(() => JSON.stringify(localStorage).includes('Not worth asking'))).toBe(false)
})

test('a box that is not typed in follows the other tab; one that is keeps its text, and stores it when left', async () => {
  const { id } = await storeConversation(stage, 'Ferry', ['It leaves at noon.'])
  const there = await page.context().newPage()
  for (const one of [page, there]) {
    await one.goto(`${stage.alcove.url}/?chat=${id}`)
    await one.getByText('It leaves at noon.').waitFor()
  }
  await there.getByPlaceholder('Search conversations...').focus()
  await composerOf(page).fill('From which pier?')
  await expect.poll(() => composerOf(there).inputValue()).toBe('From which pier?')

  const key = `alcove-draft:${await page.evaluate(
    () => (JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as { user: { id: string } }).user.id,
  )}:${id}`
  const stored = () => there.evaluate((name) => localStorage.getItem(name), key)
  const arrived = page.evaluate(
    (name) =>
      new Promise((resolve) => addEventListener('storage', (event) => event.key === name && resolve(event.newValue))),
    key,
  )
  await composerOf(page).focus()
  await there.evaluate((name) => localStorage.setItem(name, 'Something else'), key)
  expect(await arrived).toBe('Something else')
  expect(await composerOf(page).inputValue()).toBe('From which pier?')
  await composerOf(page).blur()
  await expect.poll(stored).toBe('From which pier?')
  await there.close()
})

test('what was typed in one tab stays there when another tab sends what it made of it', async () => {
  const there = await page.context().newPage()
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(page).fill('A long question about the pier')
  await there.goto(stage.alcove.url)
  await expect.poll(() => composerOf(there).inputValue()).toBe('A long question about the pier')
  await composerOf(there).fill('A short one [[stub tokens=5]]')
  await composerOf(there).press('Control+Enter')
  await there.getByRole('button', { name: 'Good answer' }).waitFor()
  expect(await composerOf(page).inputValue()).toBe('A long question about the pier')
  await there.close()
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('A long question about the pier')
})
