/** Pinning a conversation and unpinning it (specification, section 4.1). */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStage, type Stage, storeConversation, toastOf } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage()
  page = stage.page
  await storeConversation(stage, 'Bees', ['They hum.'])
  await storeConversation(stage, 'Wasps', ['They sting.'])
  await page.getByRole('listitem').filter({ hasText: 'Wasps' }).waitFor()
})
afterAll(() => stage.close())

const entry = (title: string) => page.getByRole('listitem').filter({ hasText: title })
const titles = (section: string) =>
  page.getByRole('region', { name: section, exact: true }).getByRole('listitem').allInnerTexts()
const toast = () => toastOf(page)

test('the actions are seen where the pointer is', async () => {
  const pin = page.getByRole('button', { name: 'Pin Bees', exact: true })
  const opacity = () => pin.evaluate((button) => getComputedStyle(button.parentElement ?? button).opacity)
  await page.mouse.move(900, 500)
  await expect.poll(opacity).toBe('0')
  await entry('Bees').hover()
  await expect.poll(opacity).toBe('1')
})

test('pinning moves it above the others, says so, and lasts', async () => {
  await entry('Bees').hover()
  await page.getByRole('button', { name: 'Pin Bees', exact: true }).click()
  await toast().getByText('Conversation pinned', { exact: true }).waitFor()
  await toast().getByText('The conversation has been pinned to the top', { exact: true }).waitFor()
  expect(await toast().getAttribute('data-variant')).toBe('default')
  await page.reload()
  await entry('Bees').waitFor()
  expect((await titles('Pinned Conversations')).join()).toContain('Bees')
  expect((await titles('Conversations')).join()).not.toContain('Bees')
})

test('unpinning puts it back, says so, and lasts', async () => {
  await entry('Bees').hover()
  await page.getByRole('button', { name: 'Unpin Bees', exact: true }).click()
  await toast().getByText('Conversation unpinned', { exact: true }).waitFor()
  await toast().getByText('The conversation has been unpinned', { exact: true }).waitFor()
  await page.reload()
  await entry('Bees').waitFor()
  await expect.poll(() => page.getByRole('region', { name: 'Pinned Conversations' }).count()).toBe(0)
})
