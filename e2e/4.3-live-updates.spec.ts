/** Changes in one tab show in another, and after a network failure (specification, section 4.3). */
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signInWithTestAccount } from './browser.ts'
import { composerOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

let stage: Stage
let here: Page
let there: Page

beforeAll(async () => {
  stage = await openStage()
  here = stage.page
  there = await here.context().newPage()
  await there.goto(stage.alcove.url)
  await there.getByText('No conversations yet').waitFor()
  // A background tab draws rarely, so a click in it would take long.
  await here.bringToFront()
})
afterAll(() => stage.close())

/** The stand-in model gives every conversation this title. */
const TITLE = 'Paragraph 1. The quic'

const answers = (page: Page) => page.getByRole('article', { name: 'Answer' })
const finished = (page: Page) => page.getByRole('button', { name: 'Good answer' })

test('a new conversation appears in the other tab, with its answer', async () => {
  await startChat(here, 'Do you see me?')
  await there.getByRole('listitem').getByRole('button').first().click()
  await there.getByRole('article').getByText('Do you see me?').waitFor()
  await finished(there).waitFor()
  await Promise.all([here, there].map((page) => page.getByRole('listitem').filter({ hasText: TITLE }).waitFor()))
})

test('an answer is written in both tabs, and a reload joins it without a gap or a repeat', async () => {
  await composerOf(here).fill('Go on [[stub tokens=300 hold=60]]')
  await composerOf(here).press('Control+Enter')
  await answers(there)
    .last()
    .getByRole('heading', { name: /Section 1/ })
    .waitFor()
  await here.reload()
  await answers(here)
    .last()
    .getByRole('heading', { name: /Section 1/ })
    .waitFor()
  await expect.poll(() => finished(here).count()).toBe(1)
  await stage.stub.release()
  await Promise.all([finished(here).nth(1).waitFor(), finished(there).nth(1).waitFor()])
  const wanted = (await stage.stub.text(300)).match(/^## .*$/gm) ?? []
  for (const page of [here, there]) {
    expect(
      await answers(page)
        .last()
        .getByRole('heading', { name: /^Section/ })
        .count(),
    ).toBe(wanted.length)
  }
})

test('the streamed answer and its stored row are one and the same element', async () => {
  const known = await finished(here).count()
  const removed = await here.evaluateHandle(() => {
    const texts: (string | null)[] = []
    new MutationObserver((changes) => {
      for (const node of changes.flatMap((change) => [...change.removedNodes]))
        if (node instanceof Element && node.matches('article, :has(article)')) texts.push(node.textContent)
    }).observe(document.body, { childList: true, subtree: true })
    return texts
  })
  await composerOf(here).fill('Once more [[stub tokens=80 ttft=300]]')
  await composerOf(here).press('Control+Enter')
  await finished(here).nth(known).waitFor()
  expect(await removed.jsonValue()).toEqual([])
  await expect.poll(() => answers(here).count()).toBe(3)
})

test('pinning is followed', async () => {
  await here.getByRole('listitem').filter({ hasText: TITLE }).hover()
  await here.getByRole('button', { name: `Pin ${TITLE}` }).click()
  await there.getByRole('region', { name: 'Pinned Conversations' }).getByText(TITLE).waitFor()
})

test('what happened while the network was gone is there when it is back', async () => {
  await there.context().setOffline(true)
  await composerOf(here).fill('Into the void')
  await composerOf(here).press('Control+Enter')
  await here.getByText('Failed to process your message. Please try again.', { exact: true }).waitFor()
  await expect.poll(() => composerOf(here).inputValue()).toBe('Into the void')
  await there.context().setOffline(false)
  await composerOf(here).press('Control+Enter')
  await finished(here).nth(3).waitFor()
  await finished(there).nth(3).waitFor()
})

test('an answer whose row nobody tells of is asked for after 100, 250 and 500 ms', async () => {
  const deaf = await here.context().newPage()
  await deaf.routeWebSocket(/realtime/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((frame) => {
      if (typeof frame !== 'string' || !frame.includes('"table":"messages"')) socket.send(frame)
    })
  })
  const looks: string[] = []
  deaf.on('console', (message) => {
    const after = /has not come after (\d+) ms/.exec(message.text())?.[1]
    if (after !== undefined) looks.push(after)
  })
  let refusing = false
  await deaf.route('**/messages?*', (route) =>
    refusing && route.request().method() === 'GET' ? route.abort() : route.fallback(),
  )
  await deaf.route('**/messages', (route) =>
    refusing && route.request().method() === 'GET' ? route.abort() : route.fallback(),
  )
  await deaf.goto(here.url())
  await finished(deaf).first().waitFor()
  const before = await finished(deaf).count()
  refusing = true
  await composerOf(deaf).fill('Is it stored?')
  await composerOf(deaf).press('Control+Enter')
  await expect.poll(() => looks).toEqual(['100', '250', '500'])
  refusing = false
  await deaf.reload()
  await expect.poll(() => finished(deaf).count()).toBe(before + 1)
  await deaf.close()
  await here.bringToFront()
})

test('a tab leaves a conversation that was deleted in another', async () => {
  await here.getByRole('listitem').filter({ hasText: TITLE }).hover()
  await here.getByRole('button', { name: `Delete ${TITLE}` }).click()
  await here.getByRole('button', { name: 'Delete', exact: true }).click()
  await there.getByText('No conversations yet').waitFor()
  await expect.poll(() => new URL(there.url()).search).toBe('')
  await toastOf(there).getByText('Chat deleted', { exact: true }).waitFor()
  await toastOf(there).getByText('Starting a new conversation', { exact: true }).waitFor()
})

test('an address of no conversation is left without a word', async () => {
  await there.goto(`${stage.alcove.url}/?chat=${crypto.randomUUID()}`)
  await expect.poll(() => new URL(there.url()).search).toBe('')
  await composerOf(there).waitFor()
  expect(await toastOf(there).count()).toBe(0)
})

test('signing out in one tab signs out the other', async () => {
  await here.getByRole('button', { name: 'Account', exact: true }).click()
  await here.getByRole('menuitem', { name: 'Sign Out' }).click()
  await Promise.all([here.waitForURL('**/login'), there.waitForURL('**/login')])
})

test('signing in in one tab signs in the other, which follows all over again', async () => {
  // Another tab announces its session before this tab's storage has it; the delay here makes that certain.
  await there.evaluate(() => {
    const read = Storage.prototype.getItem.bind(localStorage)
    const { promise: told, resolve: tell } = Promise.withResolvers<undefined>()
    new BroadcastChannel('alcove-session').addEventListener('message', () => tell(undefined), { once: true })
    let isHidden = true
    void told.then(() => setTimeout(() => (isHidden = false), 2000))
    Storage.prototype.getItem = (key) => (isHidden && key === 'alcove-session' ? null : read(key))
  })
  const refused: string[] = []
  // Answers to what was asked before the sign-out may still arrive.
  const asked = new Set<Request>()
  there.on('request', (request) => asked.add(request))
  there.on('response', (response) => {
    if (response.status() === 401 && asked.has(response.request())) refused.push(response.url())
  })
  there.on('console', (message) => {
    if (message.text().startsWith('Live changes')) refused.push(message.text())
  })
  await signInWithTestAccount(here)
  await there.getByText('No conversations yet').waitFor()
  await startChat(here, 'Do you see me again?')
  await there.getByRole('listitem').getByRole('button').first().waitFor()
  expect(refused).toEqual([])
  expect(await toastOf(there).count()).toBe(0)
})

test('an answer that comes while the conversation is being opened is not lost', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<undefined>()
  // The response is as old as the question and arrives after the answer was announced.
  await there.route(
    /\/rest\/v1\/messages\?/,
    async (route) => {
      const response = await route.fetch()
      begin(undefined)
      await answered
      await route.fulfill({ response })
    },
    { times: 1 },
  )
  const chatOf = (page: Page) => new URL(page.url()).searchParams.get('chat')
  const before = chatOf(here)
  const soughtLast = there.waitForEvent('console', (message) => message.text().includes('has not come after 500 ms'))
  await here.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(here).fill('Slowly [[stub tokens=5 hold=0]]')
  await composerOf(here).press('Control+Enter')
  await expect.poll(() => [null, before].includes(chatOf(here))).toBe(false)
  const joined = there.waitForResponse((response) => response.url().endsWith('/reply') && response.status() === 200)
  await there.goto(here.url())
  await Promise.all([begun, joined])
  await stage.stub.release()
  await soughtLast
  answer(undefined)
  await finished(there).waitFor()
})

test('an answer that comes while the messages are read again is not lost', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>()
  let begun = 0
  await here.route(/\/rest\/v1\/messages\?/, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    begun++
    await answered
    await route.fulfill({ response })
  })
  await here.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(here).fill('Once [[stub tokens=5 hold=0]]')
  await composerOf(here).press('Control+Enter')
  // One when the channel is joined, one when its changes begin: both are as old as the question.
  await expect.poll(() => begun).toBe(2)
  await stage.stub.release()
  await finished(here).waitFor()
  answer(undefined)
  await here.unrouteAll({ behavior: 'wait' })
  await composerOf(here).fill('Twice [[stub tokens=5]]')
  await composerOf(here).press('Control+Enter')
  await expect.poll(() => finished(here).count()).toBe(2)
})

test('whoever signs in while a tab still asks for the session of before stays signed in', async () => {
  const { promise: signedIn, resolve: release } = Promise.withResolvers<undefined>()
  await there.route('**/auth/v1/user', async (route) => {
    await signedIn
    await route.continue()
  })
  const asked = there.waitForRequest('**/auth/v1/user')
  // The other tab's channels are closed before it learns of the sign-out.
  await here.route('**/auth/v1/logout**', async (route) => {
    const response = await route.fetch()
    await asked
    await route.fulfill({ response })
  })
  await here.getByRole('button', { name: 'Account', exact: true }).click()
  await here.getByRole('menuitem', { name: 'Sign Out' }).click()
  await asked
  await signInWithTestAccount(here)
  const answered = there.waitForResponse('**/auth/v1/user')
  release(undefined)
  expect((await answered).status()).toBe(403)
  await here.reload()
  await here.getByText('Chat History').waitFor()
})
