/** Two people with two tabs each: actions on an answer show in both tabs of their person and in no other. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectToFolder } from '#test/fill-conversation.ts'
import { openPage } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

interface Tabs {
  readonly here: Page
  readonly there: Page
}

let stage: Stage
let ada: Tabs
let bob: Tabs

beforeAll(async () => {
  stage = await openStage({ models: 'stub-gpt', environment: { AUTH_AUTOCONFIRM: 'true' } })
  const { page } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await signUp(page, freshAddress('bob'))
  const withSecond = async (here: Page): Promise<Tabs> => {
    await button(here, 'Model: stub-gpt DEFAULT').waitFor()
    const there = await here.context().newPage()
    return { here, there }
  }
  ada = await withSecond(stage.page)
  bob = await withSecond(page)
})
afterAll(() => stage.close())

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const answers = (page: Page) => page.getByRole('article', { name: 'Answer' })

async function open({ here, there }: Tabs, question: string): Promise<string> {
  const id = await startChat(here, question)
  await there.goto(here.url())
  await button(there, 'Good answer').waitFor()
  return id
}

test('both ask at once, and each tab shows its own person’s words alone', async () => {
  await Promise.all([
    open(ada, 'A question of Ada [[stub tokens=30]]'),
    open(bob, 'A question of Bob [[stub tokens=30]]'),
  ])
  for (const [{ here, there }, own, other] of [
    [ada, 'Ada', 'Bob'],
    [bob, 'Bob', 'Ada'],
  ] as const)
    // prettier-ignore
    for (const page of [here, there]) {
      await page.getByText(`A question of ${own}`).first().waitFor()
      expect(await page.getByText(`A question of ${other}`).count()).toBe(0)
    }
})

test('a stop ends one person’s answer in both tabs, and leaves the other’s to be written', async () => {
  await Promise.all([open(ada, 'First of Ada [[stub tokens=5]]'), open(bob, 'First of Bob [[stub tokens=5]]')])
  for (const { here } of [ada, bob]) {
    await composerOf(here).fill('Slowly [[stub tokens=200 hold=60]]')
    await composerOf(here).press('Control+Enter')
  }
  for (const { there } of [ada, bob]) await answers(there).nth(1).getByRole('heading').first().waitFor()
  await button(ada.there, 'Stop').click()
  for (const page of [ada.here, ada.there]) await page.getByText('You stopped this answer.').waitFor()
  await stage.stub.release()
  for (const page of [bob.here, bob.there]) {
    await expect.poll(() => button(page, 'Good answer').count()).toBe(2)
    expect(await page.getByText('You stopped this answer.').count()).toBe(0)
  }
})

test('a failed answer is tried again from the other tab, and both show what comes', async () => {
  const id = await open(ada, 'Before it fails [[stub tokens=5]]')
  await stage.stub.configure({ error: 500 })
  await composerOf(ada.here).fill('Will fail at first')
  await composerOf(ada.here).press('Control+Enter')
  for (const page of [ada.here, ada.there]) await button(page, 'Retry').waitFor()
  await stage.stub.configure({ error: 0 })
  await button(ada.there, 'Retry').click()
  for (const page of [ada.here, ada.there]) {
    await expect.poll(() => button(page, 'Good answer').count()).toBe(2)
    expect(await button(page, 'Retry').count()).toBe(0)
  }
  await bob.there.goto(`${stage.alcove.url}/?chat=${id}`)
  await expect.poll(() => new URL(bob.there.url()).search).toBe('')
  expect(await bob.there.getByText('Will fail at first').count()).toBe(0)
})

test('a question that killed every worker fails with a message and can be tried again, while others are answered', async () => {
  const id = await open(ada, 'Before the poison [[stub tokens=5]]')
  await composerOf(ada.here).fill('Poison [[stub tokens=50 stall=3]]')
  await composerOf(ada.here).press('Control+Enter')
  await answers(ada.there).nth(1).waitFor()
  const database = await connectToFolder(stage.dataDir)
  // The state after five workers crashed on the reply.
  const { rowCount } = await database.query(
    `update replies set state = 'queued', tries = 5, attempt = attempt + 4, lease_until = null
     where conversation_id = $1 and state = 'running'`,
    [id],
  )
  await database.end()
  expect(rowCount).toBe(1)
  for (const page of [ada.here, ada.there]) {
    await page.getByText('This question could not be answered in 5 attempts.').first().waitFor()
    await button(page, 'Retry').waitFor()
  }
  await open(bob, 'Answer me [[stub tokens=5]]')
  await startChat(ada.here, 'And me [[stub tokens=5]]')
})

test('what a model thought is folded below its answer’s head, in both tabs', async () => {
  await open(ada, `Think first [[stub tokens=10 think=${encodeURIComponent('Lamps,then_tides.')}]]`)
  for (const page of [ada.here, ada.there]) {
    const reasoning = page.locator('details', { has: page.getByText('Reasoning', { exact: true }) })
    await reasoning.waitFor()
    expect(await page.getByText('Lamps,then_tides.').isVisible()).toBe(false)
    await reasoning.locator('summary').click()
    await page.getByText('Lamps,then_tides.').waitFor()
  }
})

test('a conversation that outgrows the window says that its beginning was summarised, and shows how', async () => {
  const id = await open(ada, 'Begin [[stub tokens=5]]')
  const long = 'The keeper wrote about lamps, tides and ships. '.repeat(4_000)
  await stage.insert('messages', [
    { conversation_id: id, content: `${long} [[stub tokens=5]]`, sender_role: 2 },
    { conversation_id: id, content: `${long} [[stub tokens=5]]`, sender_role: 2 },
    { conversation_id: id, content: `${long} [[stub tokens=5]]`, sender_role: 2 },
  ])
  await composerOf(ada.here).fill('Go on [[stub tokens=5]]')
  await composerOf(ada.here).press('Control+Enter')
  for (const page of [ada.here, ada.there]) {
    const line = page.locator('details', { hasText: 'Earlier messages were summarised' })
    await line.waitFor({ timeout: 30_000 })
    await line.locator('summary').click()
    await line.getByText(/By stub-gpt, of \d+ messages\./).waitFor()
  }
})

test('the voice that was chosen in the settings reads aloud, in this browser alone', async () => {
  // No voice is installed here, so the test provides the browser's speech interface.
  const withVoices = (page: Page) =>
    page.addInitScript(() => {
      const spoken: (string | undefined)[] = []
      const voice = (name: string, lang: string) => ({ name, lang, default: false, localService: true, voiceURI: name })
      class Utterance {
        voice: { name: string } | null = null
        lang = ''
        readonly text: string
        constructor(text: string) {
          this.text = text
        }
      }
      Object.assign(window, { spoken, SpeechSynthesisUtterance: Utterance })
      Object.defineProperty(window, 'speechSynthesis', {
        value: {
          getVoices: () => [voice('Iris', 'en-GB'), voice('Otto', 'de-DE')],
          addEventListener: () => undefined,
          removeEventListener: () => undefined,
          cancel: () => undefined,
          speak: (utterance: Utterance) => spoken.push(utterance.voice?.name),
        },
      })
    })
  const spoken = (page: Page) => page.evaluate(() => (window as unknown as { spoken: string[] }).spoken)
  for (const { here } of [ada, bob]) {
    await withVoices(here)
    await startChat(here, 'Read this [[stub tokens=10]]')
    await here.reload()
  }
  await ada.here.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
  await ada.here.getByLabel('Voice that reads answers aloud').selectOption({ label: 'Otto (de-DE)' })
  await ada.here.reload()
  for (const { here } of [ada, bob]) await button(here, 'Read aloud').click()
  await expect.poll(() => spoken(ada.here)).toEqual(['Otto'])
  await expect.poll(() => spoken(bob.here)).toEqual([undefined])
})
