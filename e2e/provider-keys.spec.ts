/** A person's own keys and model servers: tested, stored, used, removed. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from './browser.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({
    environment: ({ baseUrl }) => ({ ANTHROPIC_BASE_URL: baseUrl, ALLOWED_NETWORKS: '127.0.0.1/32' }),
  })
  page = stage.page
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
})
afterAll(() => stage.close())

const providers = () => page.getByRole('region', { name: 'Model providers' })
const form = () => page.getByRole('form', { name: 'Add a provider' })
const picker = () => page.getByRole('button', { name: /^Model/ })

async function enter(fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await form().getByLabel(label).fill(value)
  await form().getByRole('button', { name: 'Save' }).click()
}

test('a key that the provider refuses is not kept, and the form says so', async () => {
  await providers().getByRole('button', { name: 'Add a key or a server' }).click()
  await enter({ Key: 'wrong-key-4711' })
  await form().getByRole('alert').getByText('Anthropic refused this key.').waitFor()
  await expect.poll(() => providers().getByRole('listitem').count()).toBe(0)
  await form().getByLabel('Provider').selectOption('OpenAI')
  await expect.poll(() => form().getByRole('alert').count()).toBe(0)
  await form().getByLabel('Provider').selectOption('Anthropic')
})

test('a key that cannot be one is refused in a sentence', async () => {
  await enter({ Key: 'short' })
  await form().getByRole('alert').getByText('This is too short for a key.', { exact: true }).waitFor()
})

test('a key that works is kept and never shown again', async () => {
  await enter({ Key: 'sk-ant-secret-4711' })
  await providers().getByText('Key ends in 4711').waitFor()
  const shown = await page.evaluate(() => document.documentElement.outerHTML)
  expect(shown).not.toContain('sk-ant-secret')
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
  await providers().getByText('Key ends in 4711').waitFor()
})

test('its models can be chosen, and answer from the next message on', async () => {
  await startChat(page, 'Asked of the first model')
  await picker().click()
  await page.getByRole('menuitemradio', { name: /Claude Sonnet 5\.5/ }).click()
  await ask(page, 'Asked of the second model')
  await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(2)
  expect(await stage.stub.lastRequest()).toMatchObject({ model: 'claude-sonnet-5-5' })
  await page.getByRole('main').getByText('Claude Sonnet 5.5').waitFor()
})

test('a model server of the own is listed under its name and answers', async () => {
  await providers().getByRole('button', { name: 'Add a key or a server' }).click()
  await form().getByLabel('Provider').selectOption('compatible')
  await enter({ Name: 'Attic', Address: 'http://127.0.0.1:1/v1' })
  await form().getByRole('alert').getByText('127.0.0.1:1 cannot be reached', { exact: false }).waitFor()
  await enter({ Name: 'Attic', Address: `${stage.stub.baseUrl}/` })
  await providers().getByText(`${stage.stub.baseUrl} · No key`).waitFor()
  await picker().click()
  await page.getByRole('menu').getByText('Attic', { exact: true }).waitFor()
  await page.getByRole('menuitemradio', { name: 'stub-gpt' }).last().click()
  await page.getByRole('button', { name: /start a new chat/ }).click()
  await composerOf(page).fill('Who answers?')
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  expect(await page.evaluate(() => window.selectedModelIdentifier)).toMatch(/^endpoint:.*\/stub-gpt$/)
})

test('a model of it searches the documents by meaning once it has answered, until it is told to stop', async () => {
  await providers().getByRole('button', { name: 'Choose an embeddings model' }).click()
  const chooser = page.getByRole('form', { name: 'Search by meaning' })
  await chooser.getByLabel('Embeddings model').fill('nomic-embed-text')
  await chooser.getByRole('button', { name: 'Save' }).click()
  await providers().getByText('Your documents are searched by meaning with nomic-embed-text of Attic.').waitFor()
  await providers().getByRole('button', { name: 'Stop' }).click()
  await providers()
    .getByText('A provider of yours can also search your documents by meaning', { exact: false })
    .waitFor()
})

/** Presses Remove and confirms the dialog with this question. */
async function remove(name: string, question: RegExp): Promise<void> {
  await providers()
    .getByRole('button', { name: `Remove ${name}` })
    .click()
  const dialog = page.getByRole('alertdialog', { name: `Remove ${name}` })
  await dialog.getByText(question).waitFor()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => providers().getByText(name).count()).toBe(0)
}

test('nothing is removed without a question', async () => {
  await providers().getByRole('button', { name: 'Remove Attic' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await providers().getByText('Attic', { exact: true }).waitFor()
})

test('a server that is removed takes its models along', async () => {
  await remove('Attic', /Its models leave the list/)
  await picker().click()
  await page.getByRole('menu').getByText('OpenAI-compatible', { exact: true }).waitFor()
  await expect.poll(() => page.getByRole('menu').getByText('Attic', { exact: true }).count()).toBe(0)
  await page.keyboard.press('Escape')
})

test('a conversation with one of them still names it, the picker says that it is gone, and so does its error', async () => {
  expect(await page.getByRole('main').getByText('stub-gpt', { exact: true }).count()).toBe(1)
  await picker().getByText('This model is no longer connected.').waitFor()
  await composerOf(page).fill('Are you there?')
  await composerOf(page).press('Control+Enter')
  await page
    .getByRole('alert')
    .getByText('"stub-gpt" belongs to a model server that is no longer connected. Choose another model.')
    .waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Chat', exact: true }).click()
  await page.getByRole('region', { name: 'Chat history' }).getByText('stub-gpt', { exact: true }).first().waitFor()
  expect(await page.evaluate(() => document.body.innerText)).not.toContain('endpoint:')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
})

test('a model whose key is removed says so at once, has another one entered, and is not what a new chat begins with', async () => {
  await picker().click()
  await page.getByRole('menuitemradio', { name: /Claude Sonnet 5\.5/ }).click()
  expect(await picker().getByText('No key is configured', { exact: false }).count()).toBe(0)
  await remove('Anthropic', /Its key is forgotten/)
  await picker().getByText('No key is configured for Anthropic.').waitFor()
  await composerOf(page).fill('And now?')
  await composerOf(page).press('Control+Enter')
  const failure = page.getByRole('alert').filter({ hasText: 'No key is configured for Anthropic. Add one' })
  await failure.getByRole('button', { name: 'Add a key' }).click()
  await expect.poll(() => form().getByLabel('Provider').inputValue()).toBe('anthropic')
  await form().getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: /start a new chat/ }).click()
  await page.getByRole('button', { name: 'Model: stub-gpt DEFAULT', exact: true }).waitFor()
})

test('a key that the list of models asks for is entered at once', async () => {
  for (const [provider, kind] of [
    ['OpenAI', 'openai'],
    ['Anthropic', 'anthropic'],
  ] as const) {
    await picker().click()
    await page.getByRole('menuitem', { name: `Add a key for ${provider}` }).click()
    await expect.poll(() => form().getByLabel('Provider').inputValue()).toBe(kind)
    await expect
      .poll(() =>
        form()
          .getByLabel('Key')
          .evaluate((field) => field === document.activeElement),
      )
      .toBe(true)
  }
  await form().getByRole('button', { name: 'Cancel' }).click()
  await page.reload()
  await picker().click()
  await page.getByRole('menuitem', { name: 'Add a key for OpenAI' }).click()
  await expect.poll(() => form().getByLabel('Provider').inputValue()).toBe('openai')
  await expect
    .poll(() =>
      form()
        .getByLabel('Key')
        .evaluate((field) => field === document.activeElement),
    )
    .toBe(true)
})
