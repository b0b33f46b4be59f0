/** The operator in the page: the one-time link, the operation section, limits before and at their end, and usage as a chart and a table. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './browser.ts'
import { createAccount, freshAddress, PASSWORD } from './people.ts'
import { composerOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

const OPERATOR = 'operator@example.test'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ environment: { AUTH_AUTOCONFIRM: 'true', LIMIT_PAGES: '70' }, signedIn: false })
  page = stage.page
})
afterAll(() => stage.close())

async function runCommand(): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/operator.ts'], {
    env: { ...process.env, DATA_DIR: stage.dataDir, PORT: new URL(stage.alcove.url).port },
  })
  return stdout.trim()
}

async function enter(one: Page, email: string): Promise<void> {
  await one.getByPlaceholder('Enter your email').fill(email)
  await one.getByPlaceholder('Enter your password').fill(PASSWORD)
  await one.getByRole('button', { name: 'Sign in', exact: true }).click()
  await one.getByText('Chat History').waitFor()
}

const openTab = (one: Page, name: string) =>
  one.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true }).click()
const region = (one: Page, name: string) => one.getByRole('region', { name, exact: true })

async function openPerson(name: string): Promise<Page> {
  const email = freshAddress(name)
  await createAccount(stage.alcove, email)
  const { page: opened } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await enter(opened, email)
  return opened
}

async function ask(one: Page, question: string): Promise<void> {
  await composerOf(one).fill(question)
  await composerOf(one).press('Control+Enter')
}

/** The day of the limits, by the clock that the server has too. */
const today = () => new Date().toISOString().slice(0, 10)
const DAY_FORMAT = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Runs steps that count on limits of one day: where they fail over midnight, they run again on the new day. */
async function withinOneDay<Result>(steps: () => Promise<Result>): Promise<Result> {
  const before = today()
  try {
    return await steps()
  } catch (error) {
    if (today() === before) throw error
    return await steps()
  }
}

test('the link of the command makes its first visitor the operator', async () => {
  expect(stage.alcove.output()).not.toContain('/operator?token=')
  const link = await runCommand()
  await page.goto(link)
  expect((await new AxeBuilder({ page }).setLegacyMode().analyze()).violations).toEqual([])
  await page.getByLabel('E-mail').fill(OPERATOR)
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Become the operator' }).click()
  await page.getByRole('alert').getByText('at least 8 characters').waitFor()
  expect(await page.getByLabel('E-mail').inputValue()).toBe(OPERATOR)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Password').press('Enter')
  await page.waitForURL('**/login')
  await enter(page, OPERATOR)
  await openTab(page, 'Settings')
  await region(page, 'Operation').getByText('Version').waitFor()
  await page.goto(link)
  await page.getByRole('alert').getByText('This link has ended or was used.').waitFor()
  await page.goto(stage.alcove.url)
})

test('another person sees no operation section, and the operator passes axe with it', async () => {
  const email = freshAddress('guest')
  await createAccount(stage.alcove, email)
  const { page: other } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  const asked = other.waitForResponse((response) => response.url().includes('/rest/v1/operators'))
  await enter(other, email)
  await openTab(other, 'Settings')
  expect(await (await asked).json()).toEqual([])
  await region(other, 'Usage').getByRole('img').waitFor()
  expect(await region(other, 'Operation').count()).toBe(0)
  await other.close()

  await openTab(page, 'Settings')
  await region(page, 'Usage of all').getByRole('img').waitFor()
  await region(page, 'People').getByText(email).waitFor()
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(' '))])).toEqual([])
  }
})

test('a person is disabled in the page and signed out where they are', async () => {
  const email = freshAddress('leaving')
  await createAccount(stage.alcove, email)
  const { page: other } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  await enter(other, email)
  await page.reload()
  await openTab(page, 'Settings')
  await page.getByRole('button', { name: `Disable ${email}` }).click()
  await page.getByRole('button', { name: `Enable ${email}` }).waitFor()
  await other.waitForURL('**/login')
  await other.close()
})

test('a person is invited by mail, and a test mail tells where it went', async () => {
  const people = region(page, 'People')
  await people.getByLabel('Invite by mail', { exact: true }).last().fill('invited@example.test')
  await people.getByRole('button', { name: 'Invite' }).click()
  await people.getByText('invited@example.test was invited.').waitFor()
  await people.getByText('Not confirmed').waitFor()
  await region(page, 'Mail').getByRole('button', { name: 'Send a test mail to yourself' }).click()
  await region(page, 'Mail')
    .getByText(/^Sent\. No mail server is set/)
    .waitFor()
})

test('a setting of the environment is shown as fixed, and a wrong value is refused with a sentence', async () => {
  const limits = region(page, 'Sign-ups and limits')
  await limits.getByText('Recognised pages a day per person: 70').waitFor()
  await limits.getByText('Set in the environment of the server (LIMIT_PAGES).').waitFor()
  const form = limits.getByRole('form', { name: 'Questions a day per person' })
  await form.getByRole('textbox').fill('many')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('alert').getByText('LIMIT_QUESTIONS wants a whole number').waitFor()
})

test('what is left is said before a question is refused, and the refused question stays in the box', async () => {
  const limit = region(page, 'Sign-ups and limits').getByRole('form', { name: 'Questions a day per person' })
  await limit.getByRole('textbox').fill('2')
  await limit.getByRole('textbox').press('Enter')
  const toDefault = limit.getByRole('button', { name: 'Default' })
  await toDefault.waitFor()
  const one = await withinOneDay(async () => {
    const asking = await openPerson('asking')
    await openTab(asking, 'Settings')
    await region(asking, 'Usage').getByText('Questions today: 0 of 2 used, 2 left.').waitFor()
    await startChat(asking, 'Where does the lamp stand?')
    await ask(asking, 'And the chair?')
    await asking.getByRole('status').getByText('You have 0 of 2 questions left today.').waitFor()
    await asking.getByRole('button', { name: 'Good answer' }).nth(1).waitFor()
    await ask(asking, 'And the table?')
    await toastOf(asking)
      .getByText('You asked 2 of 2 questions today. You can ask again after midnight (UTC).')
      .waitFor()
    expect(await composerOf(asking).inputValue()).toBe('And the table?')
    return asking
  })
  await toDefault.click()
  await toDefault.waitFor({ state: 'detached' })
  await composerOf(one).press('Control+Enter')
  await one.getByRole('button', { name: 'Good answer' }).nth(2).waitFor()
  await one.close()
})

test('the chart is read as a table by keyboard', async () => {
  const one = await openPerson('counted')
  const before = today()
  await startChat(one, 'Where does the lamp stand?')
  const days = [before, today()].map((day) => DAY_FORMAT.format(new Date(day)))
  await openTab(one, 'Settings')
  const usage = region(one, 'Usage')
  await usage.getByRole('img', { name: 'Your usage: Questions by day, at most 1 a day' }).waitFor()
  await usage.getByText('As a table').focus()
  await one.keyboard.press('Enter')
  const counts = await usage.getByRole('row').evaluateAll((rows) =>
    rows.slice(1).map((row) => ({
      day: row.querySelector('th')?.textContent ?? '',
      questions: row.querySelector('td')?.textContent,
    })),
  )
  const asked = counts.filter(({ questions }) => questions !== '0')
  expect(asked).toEqual([{ day: expect.any(String) as unknown, questions: '1' }])
  expect(days).toContain(asked[0]?.day)
  await usage.getByLabel('Show').selectOption({ label: 'Tokens' })
  await usage.getByRole('img', { name: /^Your usage: Tokens by day/ }).waitFor()
  await one.close()
})
