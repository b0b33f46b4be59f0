/** Page translators replace the text nodes that the page renders. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { restorePage, translatePage } from './page-translator.ts'
import { collectErrors, signInWithTestAccount } from './browser.ts'
import { composerOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

let stage: Stage
/** Shows the same, untranslated. */
let plain: Page

beforeAll(async () => {
  stage = await openStage()
  plain = stage.page
})
afterAll(() => stage.close())

async function openTranslated(steps: 'replace' | 'insert'): Promise<{ page: Page; faults: readonly string[] }> {
  const context = await stage.browser.newContext({ viewport: { width: 1440, height: 900 } })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const faults = collectErrors(page)
  await page.goto(stage.alcove.url)
  await signInWithTestAccount(page)
  await page.evaluate(translatePage, steps)
  return { page, faults }
}

/** The texts of elements, in capitals, with single spaces. */
const textsOf = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((elements) => elements.map((element) => element.textContent.replaceAll(/\s+/g, ' ').toUpperCase()))

const answers = 'article[aria-label=Answer]'
const finished = (page: Page) => page.getByRole('button', { name: 'Good answer' })

async function ask(page: Page, question: string): Promise<void> {
  const before = await finished(page).count()
  await composerOf(page).fill(question)
  await composerOf(page).press('Control+Enter')
  await expect.poll(() => finished(page).count(), { timeout: 60_000 }).toBe(before + 1)
}

test.each(['replace', 'insert'] as const)(
  'answers stay whole while they stream under a translator (%s)',
  async (steps) => {
    const id = await startChat(plain, 'Hello')
    const { page, faults } = await openTranslated(steps)
    await page.goto(`${stage.alcove.url}/?chat=${id}`)
    await finished(page).waitFor()
    await page.evaluate(translatePage, steps)
    for (const content of ['maths', 'plain']) {
      await ask(page, `Go on [[stub tokens=500 tps=150 content=${content}]]`)
      await expect.poll(() => finished(plain).count(), { timeout: 60_000 }).toBe(await finished(page).count())
      await expect.poll(() => textsOf(page, answers)).toEqual(await textsOf(plain, answers))
    }
    expect(await page.locator(`${answers} p`).last().textContent()).toContain('THE QUICK BROWN FOX')
    await page.evaluate(restorePage)
    expect(await page.locator(`${answers} p`).last().textContent()).toContain('The quick brown fox')
    await ask(page, 'Go on [[stub tokens=200 tps=150 content=plain]]')
    await expect.poll(() => finished(plain).count()).toBe(await finished(page).count())
    await expect.poll(() => textsOf(page, answers)).toEqual(await textsOf(plain, answers))
    expect(faults).toEqual([])
  },
)

test.each(['replace', 'insert'] as const)('everything else works under a translator too (%s)', async (steps) => {
  const { page, faults } = await openTranslated(steps)
  const rename = async (title: string): Promise<void> => {
    await page.getByRole('button', { name: 'Rename conversation' }).click()
    await page.getByRole('textbox', { name: 'Title of the conversation' }).fill(title)
    await page.keyboard.press('Enter')
    // In the list and above the conversation.
    await expect.poll(() => page.getByText(title.toUpperCase(), { exact: true }).count()).toBe(2)
  }
  for (const title of [`First ${steps}`, `Second ${steps}`]) {
    await startChat(page, 'Hello')
    await rename('A passing title')
    await rename(title)
  }
  await page.getByText(`FIRST ${steps}`.toUpperCase(), { exact: true }).click()
  await expect.poll(() => textsOf(page, 'h1')).toEqual([`FIRST ${steps}`.toUpperCase()])
  // Palette.
  await page.keyboard.press('Control+k')
  await page.keyboard.type(`second ${steps}`)
  await page.getByRole('dialog').getByText(`SECOND ${steps}`.toUpperCase()).first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  // Files, whose rows go through several states.
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  const files = Array.from({ length: 4 }, (_, n) => ({
    name: `${steps} ${n}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`The file ${steps} ${n}.`),
  }))
  await page.getByLabel('Files to upload').first().setInputFiles(files)
  for (const { name } of files)
    await expect
      .poll(() => page.getByRole('region', { name: 'Files' }).getByText(name.toUpperCase(), { exact: true }).count())
      .toBe(1)
  await expect
    .poll(() => page.getByRole('region', { name: 'Files' }).locator('[data-state=ready]').count())
    .toBeGreaterThan(3)
  // Settings, a toast that another one follows, and the way out.
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('region', { name: 'Settings' }).getByText('LIGHT', { exact: true }).waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Chat', exact: true }).click()
  for (const act of ['Pin', 'Unpin']) {
    await page.getByText(`FIRST ${steps}`.toUpperCase(), { exact: true }).first().hover()
    await page.getByRole('button', { name: `${act} First ${steps}` }).click()
    await toastOf(page).getByText(`CONVERSATION ${act}NED`.toUpperCase()).waitFor()
  }
  await page.getByText(`SECOND ${steps}`.toUpperCase(), { exact: true }).first().hover()
  await page.getByRole('button', { name: `Delete Second ${steps}` }).click()
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => page.getByText(`SECOND ${steps}`.toUpperCase(), { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByText('USE TEST ACCOUNT').waitFor()
  expect(faults).toEqual([])
})
