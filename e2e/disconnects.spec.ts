/** A page whose network fails at random points shows every word of an answer once, during streaming and after. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CuttingProxy } from '#test/cutting-proxy.ts'
import { composerOf, openShakyPage, openStage, type Stage, startChat } from './stage.ts'

const TOKENS = 600
let stage: Stage
let proxy: CuttingProxy
let steady: Page
let shaky: Page

beforeAll(async () => {
  stage = await openStage()
  ;({ page: shaky, proxy } = await openShakyPage(stage))
  steady = stage.page
})
afterAll(async () => {
  await proxy.close()
  await stage.close()
})

const lastAnswer = (page: Page) => page.getByRole('article', { name: 'Answer' }).last()
const finished = (page: Page) => page.getByRole('button', { name: 'Good answer' })

/** The text of the answer's blocks, without controls around them. */
const wordsOf = (page: Page): Promise<string> =>
  lastAnswer(page).evaluate((answer) =>
    [...answer.querySelectorAll('h2, p, li, td, blockquote')].map((block) => block.textContent).join(' '),
  )

async function askSlowly(id: string, tokens = TOKENS): Promise<void> {
  await shaky.goto(`${proxy.url}/?chat=${id}`)
  await finished(shaky).first().waitFor()
  await composerOf(steady).fill(`Go on [[stub tokens=${tokens} tps=100 content=plain]]`)
  await composerOf(steady).press('Control+Enter')
  await lastAnswer(shaky).getByText('Paragraph 1.').waitFor()
}

const plainText = async (tokens = TOKENS): Promise<string> => {
  const response = await fetch(`${stage.stub.baseUrl.replace('/v1', '')}/__stub/text?tokens=${tokens}&content=plain`)
  return ((await response.json()) as { text: string }).text.trim()
}

test('nothing is lost or doubled by breaks of a moment', async () => {
  const id = await startChat(steady, 'Begin [[stub tokens=5]]')
  await askSlowly(id)
  const whole = await plainText()
  for (let cut = 0; cut < 6; cut += 1) {
    await delay(100 + Math.random() * 700)
    proxy.cut()
    const seen = (await wordsOf(shaky)).trim()
    expect(whole.startsWith(seen), seen.slice(-60)).toBe(true)
  }
  await finished(shaky).nth(1).waitFor()
  expect((await wordsOf(shaky)).trim()).toBe(whole)
})

test('an answer that ended while the network was gone is there when it is back', async () => {
  const id = await startChat(steady, 'Begin anew [[stub tokens=5]]')
  await askSlowly(id)
  proxy.refuse(true)
  proxy.cut()
  await finished(steady).nth(1).waitFor()
  proxy.refuse(false)
  await finished(shaky).nth(1).waitFor()
  expect((await wordsOf(shaky)).trim()).toBe(await plainText())
})

test('while the network is gone one quiet line says so', async () => {
  const line = shaky.getByRole('status').getByText('Connection lost. Reconnecting…')
  expect(await line.count()).toBe(0)
  proxy.refuse(true)
  proxy.cut()
  await line.waitFor()
  proxy.refuse(false)
  await line.waitFor({ state: 'detached' })
})

// Last, because the page keeps its fake clock.
test('an answer that is still being written after ten minutes of sleep is joined, and ends as it was written', async () => {
  const id = await startChat(steady, 'Begin once more [[stub tokens=5]]')
  await shaky.clock.install()
  await askSlowly(id, 4 * TOKENS)
  const whole = await plainText(4 * TOKENS)
  proxy.abandon()
  const before = (await wordsOf(shaky)).trim()
  expect(whole.startsWith(before), before.slice(-60)).toBe(true)
  await expect.poll(async () => (await wordsOf(steady)).length).toBeGreaterThan(before.length + 500)
  expect((await wordsOf(shaky)).length).toBeLessThan(before.length + 500)
  await shaky.clock.fastForward('10:00')
  // The first heartbeat after waking gets no answer; the second one detects that.
  await shaky.clock.fastForward('00:40')
  await expect.poll(async () => (await wordsOf(shaky)).length).toBeGreaterThan(before.length + 500)
  expect(await finished(steady).count()).toBe(1)
  const joined = (await wordsOf(shaky)).trim()
  expect(whole.startsWith(joined), joined.slice(-60)).toBe(true)
  await finished(shaky).nth(1).waitFor({ timeout: 60_000 })
  for (const page of [shaky, steady]) expect((await wordsOf(page)).trim()).toBe(whole)
})
