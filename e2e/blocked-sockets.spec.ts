/** A page on a network that lets no WebSockets through shows all that a page with them shows. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SocketlessProxy, type SocketTreatment, startSocketlessProxy } from '#test/socketless-proxy.ts'
import { openPage, signInWithTestAccount } from './browser.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

const NOTE = /blocks live updates/

let stage: Stage
let proxy: SocketlessProxy
/** On a network with WebSockets. */
let steady: Page

beforeAll(async () => {
  stage = await openStage()
  steady = stage.page
  proxy = await startSocketlessProxy(stage.alcove.url)
})
afterAll(async () => {
  await proxy.close()
  await stage.close()
})

const lastAnswer = (page: Page) => page.getByRole('article', { name: 'Answer' }).last()
const finished = (page: Page) => page.getByRole('button', { name: 'Good answer' })
const note = (page: Page) => page.getByRole('status').getByText(NOTE)
const lost = (page: Page) => page.getByText('Connection lost. Reconnecting…')
const history = (page: Page) => page.getByRole('region', { name: 'Chat history' })

const wordsOf = (page: Page): Promise<string> =>
  lastAnswer(page).evaluate((answer) =>
    [...answer.querySelectorAll('h2, p, li, td, blockquote')].map((block) => block.textContent).join(' '),
  )

/** How often the last answer holds a text; what it says of its sources follows it. */
const textTimes = async (page: Page, text: string): Promise<number> => (await wordsOf(page)).split(text).length - 1

async function plainText(tokens: number): Promise<string> {
  const response = await fetch(`${stage.stub.baseUrl.replace('/v1', '')}/__stub/text?tokens=${tokens}&content=plain`)
  return ((await response.json()) as { text: string }).text.trim()
}

async function openBlocked(treatment: SocketTreatment, script?: () => void): Promise<Page> {
  proxy.treat(treatment)
  const { page } = await openPage(stage.browser, 'about:blank')
  if (script !== undefined) await page.addInitScript(script)
  await page.goto(proxy.url)
  await signInWithTestAccount(page)
  return page
}

async function seesAnAnswerGrow(page: Page): Promise<void> {
  await composerOf(page).fill('Go on [[stub tokens=400 tps=100 content=plain]]')
  await composerOf(page).press('Control+Enter')
  await lastAnswer(page).getByText('Paragraph 1.').waitFor()
  const whole = await plainText(400)
  const early = (await wordsOf(page)).trim()
  expect(whole.startsWith(early), early.slice(-60)).toBe(true)
  expect(early.length).toBeLessThan(whole.length)
  await finished(page).nth(1).waitFor()
  expect(await textTimes(page, whole)).toBe(1)
}

const without = (): void => {
  Reflect.deleteProperty(globalThis, 'WebSocket')
}
const throwing = (): void => {
  globalThis.WebSocket = new Proxy(WebSocket, {
    construct() {
      throw new DOMException('The operation is insecure.', 'SecurityError')
    },
  })
}

test.for<[string, SocketTreatment, (() => void)?]>([
  ['answered with 403', 403],
  ['answered with 404', 404],
  ['answered with 502', 502],
  ['left without an answer', 'hang'],
  ['opened and closed at once', 'close'],
  ['opened, but without frames', 'mute'],
  ['missing in the browser', 403, without],
  ['refused by the browser', 403, throwing],
])('answers grow and end where sockets are %s', async ([, treatment, script]) => {
  const page = await openBlocked(treatment, script)
  await startChat(page, 'Begin [[stub tokens=5]]')
  await seesAnAnswerGrow(page)
  expect(await lost(page).count()).toBe(0)
  await page.context().close()
})

test('one line says so, then the page is quiet, also in its console', async () => {
  const errors: string[] = []
  const page = await openBlocked(403)
  page.on('console', (message) => {
    if (message.type() === 'error' && !/WebSocket connection to/.test(message.text())) errors.push(message.text())
  })
  await note(page).waitFor()
  expect(await lost(page).count()).toBe(0)
  await note(page).waitFor({ state: 'detached' })
  expect(errors).toEqual([])
  await page.context().close()
})

test('what other tabs do appears: questions, answers, names, pins and deletions', async () => {
  const page = await openBlocked(403)
  const id = await startChat(steady, 'Begin [[stub tokens=5]]')
  await page.goto(`${proxy.url}/?chat=${id}`)
  await finished(page).first().waitFor()
  await note(page).waitFor()
  await composerOf(steady).fill('Go on [[stub tokens=300 tps=100 content=plain]]')
  await composerOf(steady).press('Control+Enter')
  await lastAnswer(page).getByText('Paragraph 1.').waitFor()
  await finished(page).nth(1).waitFor()
  expect((await wordsOf(page)).trim()).toBe(await plainText(300))

  const rest = async (method: string, body?: object) => {
    const token = await steady.evaluate(
      () => (JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as { access_token: string }).access_token,
    )
    const response = await fetch(`${stage.alcove.url}/api/conversations/${id}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(response.ok).toBe(true)
  }
  await rest('PATCH', { title: 'A name from elsewhere' })
  await history(page).getByText('A name from elsewhere').waitFor()
  await rest('DELETE')
  await history(page).getByText('A name from elsewhere').waitFor({ state: 'detached' })
  await page.waitForURL((url) => !url.searchParams.has('chat'))
  await page.context().close()
})

test('documents become ready, and those of other tabs appear', async () => {
  const page = await openBlocked(403)
  await note(page).waitFor()
  const row = (name: string) =>
    page
      .getByRole('region', { name: 'Files' })
      .getByRole('listitem')
      .filter({ has: page.getByText(name, { exact: true }) })
  const upload = (to: Page, name: string) =>
    to
      .getByLabel('Files to upload')
      .first()
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`${name} is about a dry cellar.`) })
  for (const each of [page, steady])
    await each.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await upload(page, 'own.txt')
  await expect.poll(() => row('own.txt').getAttribute('data-state')).toBe('ready')
  await upload(steady, 'other.txt')
  await expect.poll(() => row('other.txt').getAttribute('data-state')).toBe('ready')
  await page.context().close()
})

test('a socket that goes silent in the middle of an answer: the rest comes all the same, once', async () => {
  const page = await openBlocked('pass')
  await startChat(page, 'Begin [[stub tokens=5]]')
  await composerOf(page).fill('Go on [[stub tokens=2400 tps=100 content=plain]]')
  await composerOf(page).press('Control+Enter')
  await lastAnswer(page).getByText('Paragraph 1.').waitFor()
  proxy.treat('mute')
  proxy.freeze()
  const before = (await wordsOf(page)).length
  await expect.poll(async () => (await wordsOf(page)).length, { timeout: 12_000 }).toBeGreaterThan(before + 500)
  const whole = await plainText(2400)
  expect(whole.startsWith((await wordsOf(page)).trim())).toBe(true)
  await finished(page).nth(1).waitFor()
  expect(await textTimes(page, whole)).toBe(1)
  await page.context().close()
})

test('sockets that come back are used again: nothing is lost or doubled, and asking ends', async () => {
  const page = await openBlocked(403)
  await startChat(page, 'Begin [[stub tokens=5]]')
  await note(page).waitFor()
  await composerOf(page).fill('Go on [[stub tokens=2400 tps=100 content=plain]]')
  await composerOf(page).press('Control+Enter')
  await lastAnswer(page).getByText('Paragraph 1.').waitFor()
  proxy.treat('pass')
  await note(page).waitFor({ state: 'detached' })
  const asked: string[] = []
  page.on('request', (request) => {
    if (/\/api\/changes|\/reply/.test(request.url())) asked.push(request.url())
  })
  const whole = await plainText(2400)
  expect(whole.startsWith((await wordsOf(page)).trim())).toBe(true)
  await finished(page).nth(1).waitFor()
  expect(await textTimes(page, whole)).toBe(1)
  // Joining itself causes a few.
  expect(asked.length).toBeLessThan(6)
  await page.context().close()
})
