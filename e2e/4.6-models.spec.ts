/** Model selection, and which tabs follow it (specification, sections 4.6 and 5). */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

interface Model {
  readonly name: string
  readonly model_identifier: string
  readonly provider: string
  readonly is_default: boolean
}

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ models: 'stub-gpt,stub-other' })
  page = stage.page
})
afterAll(() => stage.close())
afterEach(() => page.unrouteAll({ behavior: 'wait' }))

const globalModel = () => page.evaluate(() => (window as { selectedModelIdentifier?: string }).selectedModelIdentifier)
const picker = (name: string | RegExp) => page.getByRole('button', { name })

/** Reloads the page with the server's models changed by `change`. */
async function reloadWith(change: (models: Model[]) => Model[]): Promise<string> {
  let asked = ''
  await page.route('**/rest/v1/models**', async (route) => {
    asked = route.request().url()
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: change((await answer.json()) as Model[]) })
  })
  await page.reload()
  await page.getByText('Chat History').waitFor()
  await expect.poll(globalModel).toBeDefined()
  return asked
}

test('it is the default one', async () => {
  const asked = await reloadWith((models) => models.toReversed())
  await picker('Model: stub-gpt DEFAULT').waitFor()
  expect(await globalModel()).toBe('openai-compatible/stub-gpt')
  const { searchParams } = new URL(asked)
  expect(searchParams.get('is_visible')).toBe('eq.true')
  expect(searchParams.get('order')).toBe('is_default.desc,name.asc')
})

test('without a default it is the first of the first group', async () => {
  await reloadWith((models) => models.map((model) => ({ ...model, is_default: false })))
  expect(await globalModel()).toMatch(/^claude-/)
  await expect.poll(() => picker(/^Model: Claude/).innerText()).not.toContain('DEFAULT')
})

test('without that group it is the first of all', async () => {
  await reloadWith((models) =>
    models.filter(({ provider }) => provider === 'Alcove').map((m) => ({ ...m, is_default: false })),
  )
  expect(await globalModel()).toBe('alcove-reader')
  await picker('Model: Alcove Reader').waitFor()
})

test('the one that is chosen is told to the page, and answers', async () => {
  await reloadWith((models) => models)
  await picker(/^Model/).click()
  await page.getByRole('menuitemradio', { name: 'stub-other' }).click()
  await picker('Model: stub-other').waitFor()
  expect(await globalModel()).toBe('openai-compatible/stub-other')
  await picker(/^Model/).click()
  await page.getByRole('menuitemradio', { name: 'stub-other' }).getByRole('img', { name: 'Selected' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  const created = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().includes('/conversations'),
  )
  await composerOf(page).fill('Who are you?')
  await composerOf(page).press('Control+Enter')
  expect((await created).postDataJSON()).toMatchObject({ model_name: 'openai-compatible/stub-other' })
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
})

test('with a conversation open whose model is not listed, one is selected all the same', async () => {
  await reloadWith((models) => models.filter(({ provider }) => provider === 'Alcove'))
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await picker(/^Model: Alcove Reader/).waitFor()
  expect(await globalModel()).toBe('alcove-reader')
  await reloadWith((models) => models)
  await picker('Model: stub-other').waitFor()
})

test('models that are listed while the page is open appear in it, and the one that was chosen stays', async () => {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await picker(/^Model/).click()
  await page.getByRole('menuitemradio', { name: 'stub-other' }).click()
  const other = await page.context().newPage()
  await other.goto(stage.alcove.url)
  await other.getByRole('button', { name: 'Model: stub-gpt DEFAULT' }).waitFor()
  await stage.stub.configure({ models: 'stub-other,stub-new' })
  await other.getByRole('button', { name: /^Model/ }).click()
  await other.getByRole('menuitem', { name: 'Refresh models' }).click()
  await other.getByRole('menuitemradio', { name: 'stub-new' }).waitFor()
  // The model was not chosen there, so it follows the default.
  await other.keyboard.press('Escape')
  await other.getByRole('button', { name: 'Model: stub-other DEFAULT' }).waitFor()
  await other.close()
  await picker('Model: stub-other DEFAULT').click()
  await page.getByRole('menuitemradio', { name: 'stub-new' }).waitFor()
  await page.keyboard.press('Escape')
  expect(await globalModel()).toBe('openai-compatible/stub-other')
})

test('a question that is sent before the page knows the models waits for the default', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await page.route('**/rest/v1/models**', async (route) => {
    await promise
    await route.continue()
  })
  try {
    await page.goto(stage.alcove.url)
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await composerOf(page).fill('Who is it?')
    await composerOf(page).press('Control+Enter')
    await page.getByRole('article').getByText('Who is it?').waitFor()
  } finally {
    resolve(undefined)
  }
  await page.unrouteAll({ behavior: 'wait' })
  await picker(/^Model: stub-.* DEFAULT/).waitFor()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  expect(await globalModel()).toMatch(/^openai-compatible\/stub-/)
  // The model was not chosen, so the next chat follows another default.
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await picker(/^Model: stub-.* DEFAULT/).waitFor()
})

test('a page that was opened before the models were listed takes the default for its next chat', async () => {
  const early = await openStage({ models: 'stub-gpt', stubSettings: { listheld: 1 } })
  try {
    await early.page.getByRole('button', { name: 'Model: Alcove Reader DEFAULT' }).waitFor()
    await startChat(early.page, 'Who answers first?')
    await early.stub.configure({ listheld: 0 })
    await early.alcove.printed('the endpoint listed its models')
    // The open conversation keeps its first model.
    await early.page.getByRole('button', { name: 'Model: Alcove Reader' }).waitFor()
    await early.page.getByRole('button', { name: 'New chat' }).first().click()
    await early.page.getByRole('button', { name: 'Model: stub-gpt DEFAULT' }).waitFor()
  } finally {
    await early.close()
  }
})
