/** Keys of an input method, which composes Chinese, Japanese or Korean, do nothing on the page. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composerOf, openStage, type Stage, storeConversation } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  const { id } = await storeConversation(stage, 'Orchard', ['Pears keep until March.'])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await composerOf(page).waitFor()
})
afterAll(() => stage.close())

/** As Chromium and Firefox report the key during a composition, and as Safari reports the Enter after its end. */
const COMPOSED = { during: { isComposing: true }, 'after, as in Safari': { keyCode: 229 } } as const

const press = (target: Locator, key: string, composed: (typeof COMPOSED)[keyof typeof COMPOSED], ctrlKey = false) =>
  target.evaluate(
    (element, init) =>
      element.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true, cancelable: true })),
    { key, ctrlKey, ...composed },
  )

test.each(Object.entries(COMPOSED))('%s: Enter sends no message and picks no tool', async (_when, composed) => {
  const box = composerOf(page)
  await box.fill('にほん')
  await press(box, 'Enter', composed, true)
  expect(await box.inputValue()).toBe('にほん')
  await box.fill('@')
  await page.getByRole('option').first().waitFor()
  await press(box, 'Enter', composed)
  expect(await box.inputValue()).toBe('@')
  await box.fill('')
})

test.each(Object.entries(COMPOSED))('%s: Enter and Escape leave the palette open', async (_when, composed) => {
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog', { name: 'Search and commands' })
  const box = dialog.getByRole('combobox')
  await box.fill('Orchard')
  await dialog
    .getByRole('option', { name: /Orchard/ })
    .first()
    .waitFor()
  for (const key of ['Enter', 'Escape']) await press(box, key, composed)
  expect(await box.inputValue()).toBe('Orchard')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test.each(Object.entries(COMPOSED))(
  '%s: Enter and Escape neither store nor give up a new title',
  async (_when, composed) => {
    await page.getByRole('button', { name: 'Rename conversation' }).click()
    const field = page.getByRole('textbox', { name: 'Title of the conversation' })
    await field.fill('果樹園')
    for (const key of ['Enter', 'Escape']) await press(field, key, composed)
    expect(await field.inputValue()).toBe('果樹園')
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
  },
)
