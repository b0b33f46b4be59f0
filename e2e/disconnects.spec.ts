/** A page whose network breaks off at random points shows every word of an answer once, while it is written and after. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CuttingProxy } from '#test/cutting-proxy.ts'
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

/** What the answer's blocks say, without what stands around them. */
const wordsOf = (page: Page): Promise<string> =>
  lastAnswer(page).evaluate((answer) =>
    [...answer.querySelectorAll('h2, p, li, td, blockquote')].map((block) => block.textContent).join(' '),
  )

async function askSlowly(id: string): Promise<void> {
  await shaky.goto(`${proxy.url}/?chat=${id}`)
  await finished(shaky).first().waitFor()
  await composerOf(steady).fill(`Go on [[stub tokens=${TOKENS} tps=100 content=plain]]`)
  await composerOf(steady).press('Control+Enter')
  await lastAnswer(shaky).getByText('Paragraph 1.').waitFor()
}

const plainText = async (): Promise<string> => {
  const response = await fetch(`${stage.stub.baseUrl.replace('/v1', '')}/__stub/text?tokens=${TOKENS}&content=plain`)
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
