/** The operator chooses models in the page, and open pages of others follow. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './browser.ts'
import { createAccount, freshAddress, PASSWORD } from './people.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

let stage: Stage
let page: Page
let other: Page

beforeAll(async () => {
  const models = ['stub-gpt', 'stub-other', ...Array.from({ length: 50 }, (_, n) => `family-${n}`)]
  stage = await openStage({ models: models.join(','), environment: { AUTH_AUTOCONFIRM: 'true' } })
  page = stage.page
  const { data } = await (await stage.connectOperator()).auth.admin.listUsers()
  const [operator] = data.users
  const made = await (await stage.connectOperator()).from('operators').insert({ user_id: operator?.id })
  expect(made.error).toBeNull()
  const email = freshAddress('guest')
  await createAccount(stage.alcove, email)
  ;({ page: other } = await openPage(stage.browser, `${stage.alcove.url}/login`))
  await other.getByPlaceholder('Enter your email').fill(email)
  await other.getByPlaceholder('Enter your password').fill(PASSWORD)
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.getByText('Chat History').waitFor()
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings', exact: true }).click()
})
afterAll(() => stage.close())

const section = () => page.getByRole('region', { name: 'Models', exact: true })
const switchOf = (name: string) => section().getByRole('switch', { name, exact: true })
const picker = (name: string | RegExp) => other.getByRole('button', { name })

async function listedInPicker(): Promise<string[]> {
  await picker(/^Model/).click()
  const names = await other.getByRole('menuitemradio').allInnerTexts()
  await other.keyboard.press('Escape')
  return names.map((name) => name.split('\n')[0] ?? '')
}

test('the section names providers with their hosts, and passes axe in both themes', async () => {
  await section()
    .getByText(`Questions go to ${new URL(stage.stub.baseUrl).host} · 52 of 52 offered`)
    .waitFor()
  await section().getByText('12 more: type a part of the name above.').waitFor()
  await switchOf('Alcove Reader').waitFor()
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(' '))])).toEqual([])
  }
})

test('a model that is withdrawn by keyboard leaves the picker of an open page, and its conversation stays', async () => {
  await picker(/^Model/).click()
  await other.getByRole('menuitemradio', { name: 'stub-other' }).click()
  await startChat(other, 'Where does the lamp stand?')
  await other.getByRole('button', { name: 'Good answer' }).waitFor()

  await section().getByLabel('Find a model').fill('OTHER')
  await expect
    .poll(() =>
      section()
        .getByRole('switch', { name: /^family/ })
        .count(),
    )
    .toBe(0)
  await switchOf('stub-other').focus()
  await page.keyboard.press('Space')
  await section().getByRole('switch', { name: 'stub-other', checked: false }).waitFor()
  expect(await switchOf('stub-other').evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)

  await other.getByText('This model is no longer offered.').waitFor()
  expect(await listedInPicker()).not.toContain('stub-other')
  await composerOf(other).fill('And the chair?')
  await composerOf(other).press('Control+Enter')
  await other
    .getByRole('feed', { name: 'Messages' })
    .getByText('“stub-other” is no longer offered here: choose another model, such as “family-0”.')
    .waitFor()
  await other.getByText('Where does the lamp stand?').first().waitFor()
  await picker(/^Model/).click()
  await other.getByRole('menuitemradio', { name: 'stub-gpt' }).click()
  await composerOf(other).fill('And the table?')
  await composerOf(other).press('Control+Enter')
  await other.getByRole('button', { name: 'Good answer' }).nth(1).waitFor()
})

test('the default of new conversations reaches open pages, and is not withdrawn', async () => {
  // A model that the person chose stays chosen until the page is loaded again.
  await other.goto(stage.alcove.url)
  await picker('Model: family-0 DEFAULT').waitFor()
  await section().getByLabel('Find a model').fill('family')
  await section().getByLabel('Model of new conversations').selectOption({ label: 'family-17 (OpenAI-compatible)' })
  await picker('Model: family-17 DEFAULT').waitFor()
  await switchOf('family-17').click()
  await section().getByRole('alert').getByText('Choose another model for them first.').waitFor()
  await section().getByRole('switch', { name: 'family-17', checked: true }).waitFor()
  await section().getByLabel('Model of new conversations').selectOption({ label: 'Automatic' })
  await picker('Model: family-0 DEFAULT').waitFor()
})

test('the default is chosen by arrow keys, and the list stays focused', async () => {
  const list = section().getByLabel('Model of new conversations')
  await list.focus()
  for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
  await picker('Model: family-1 DEFAULT').waitFor()
  expect(await list.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await list.selectOption({ label: 'Automatic' })
  await picker('Model: family-0 DEFAULT').waitFor()
})

test('all found models of a provider are withdrawn at once', async () => {
  await section().getByLabel('Find a model').fill('family')
  const withdrawAll = section().getByRole('button', { name: 'Withdraw all 50 found models of OpenAI-compatible' })
  await withdrawAll.click()
  await section().getByText('0 of 50 offered').waitFor()
  await section().getByRole('status').getByText('50 models of OpenAI-compatible are not offered.').waitFor()
  expect(await withdrawAll.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await expect.poll(async () => (await listedInPicker()).filter((name) => name.startsWith('family'))).toEqual([])
  await section().getByRole('button', { name: 'Offer all 50 found models of OpenAI-compatible' }).click()
  await section().getByText('50 of 50 offered').waitFor()
  await expect.poll(async () => (await listedInPicker()).filter((name) => name.startsWith('family'))).toHaveLength(50)
})

test('whether new models are offered is a switch, which a reload shows as it was left', async () => {
  await section().getByRole('switch', { name: 'Offer new models of a provider', checked: true }).click()
  await section().getByRole('switch', { name: 'Offer new models of a provider', checked: false }).waitFor()
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings', exact: true }).click()
  await section().getByRole('switch', { name: 'Offer new models of a provider', checked: false }).waitFor()
})
