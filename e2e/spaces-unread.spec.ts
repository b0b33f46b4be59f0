/** Unread answers of each space, over reloads and devices of a person, live. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, signInWithTestAccount } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { makeSpace, spaceButton, switchTo } from './spaces.ts'
import { composerOf, openStage, type Stage, startChat, storeConversation } from './stage.ts'

let stage: Stage
/** Ada on two devices, and Bob. */
let ada: Page
let phone: Page
let bob: Page

const bobsAddress = freshAddress('bob')

beforeAll(async () => {
  stage = await openStage({ models: 'stub-gpt', environment: { AUTH_AUTOCONFIRM: 'true' } })
  ada = stage.page
  ;({ page: phone } = await openPage(stage.browser, stage.alcove.url))
  await signInWithTestAccount(phone)
  ;({ page: bob } = await openPage(stage.browser, `${stage.alcove.url}/login`))
  await signUp(bob, bobsAddress)
})
afterAll(() => stage.close())

const inHistory = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Chat history' }).getByRole('listitem').filter({ hasText: name }).first()

/** The unread conversations of a place, as the switcher says them; null if it says none. */
async function unreadOf(page: Page, place: string): Promise<string | null> {
  await page.getByRole('button', { name: /^Space: / }).click()
  const row = page.getByRole('menuitemradio', { name: place })
  await row.waitFor()
  const count = row.getByRole('img')
  const said = (await count.count()) === 0 ? null : await count.getAttribute('aria-label')
  await page.keyboard.press('Escape')
  await row.waitFor({ state: 'detached' })
  return said
}

/** Reloads a page and waits until it has read what is unread: earlier, it says no count of any place. */
async function reloadUnread(page: Page): Promise<void> {
  await page.reload()
  // The document lists its own requests alone, not those of the page before the reload.
  const hasRead = () =>
    page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .some((entry) => entry.name.includes('/rpc/unread_conversations') && entry.duration > 0),
    )
  await expect.poll(hasRead).toBe(true)
}

test('an answer that the person has not read counts on every device, until it is read on one', async () => {
  await storeConversation(stage, 'Overnight report', ['The tide rose.'])
  await expect.poll(() => unreadOf(ada, 'Personal')).toBe('1 unread conversation')
  const mark = (page: Page) => inHistory(page, 'Overnight report').getByText('Unread answer')
  await mark(ada).waitFor()
  await expect.poll(() => unreadOf(phone, 'Personal')).toBe('1 unread conversation')
  await phone.reload()
  await phone.getByText('Chat History').waitFor()
  await expect.poll(() => unreadOf(phone, 'Personal')).toBe('1 unread conversation')
  await inHistory(phone, 'Overnight report').getByRole('button').first().click()
  await phone.getByText('The tide rose.').waitFor()
  await expect.poll(() => unreadOf(phone, 'Personal')).toBeNull()
  await expect.poll(() => unreadOf(ada, 'Personal')).toBeNull()
  await expect.poll(() => mark(ada).count()).toBe(0)
  await reloadUnread(ada)
  await ada.getByText('Chat History').waitFor()
  await expect.poll(() => unreadOf(ada, 'Personal')).toBeNull()
})

test('an answer that is read as it is written does not count', async () => {
  await startChat(ada, 'Is it raining? [[stub tokens=5]]')
  // The phone has heard of the conversation, and would count its answer.
  await inHistory(phone, 'Paragraph 1').waitFor()
  await reloadUnread(phone)
  await inHistory(phone, 'Paragraph 1').waitFor()
  await expect.poll(() => unreadOf(phone, 'Personal')).toBeNull()
  await reloadUnread(ada)
  await ada.getByRole('button', { name: 'Good answer' }).waitFor()
  expect(await unreadOf(ada, 'Personal')).toBeNull()
})

test('a member who is elsewhere sees how many shared conversations were answered, also after signing on later', async () => {
  await makeSpace(ada, 'Harbour')
  await ada.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  const address = new URL(ada.url())
  await ada.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Users', exact: true }).click()
  await ada.getByRole('button', { name: 'Invite by e-mail', exact: true }).click()
  const form = ada.getByRole('form', { name: 'Invite by e-mail' })
  await form.getByLabel('E-mail').fill(bobsAddress)
  await form.getByRole('button', { name: 'Invite', exact: true }).click()
  await bob.getByRole('button', { name: 'Join Harbour' }).first().click()
  await spaceButton(bob, 'Harbour').waitFor()
  await switchTo(bob, 'Personal')

  await ada.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Chat', exact: true }).click()
  await startChat(ada, 'When does the ferry leave? [[stub tokens=5]]')
  await reloadUnread(bob)
  await spaceButton(bob, 'Personal').waitFor()
  expect(await unreadOf(bob, 'Harbour')).toBeNull()
  await ada.getByRole('button', { name: 'Share or move conversation' }).click()
  await ada.getByRole('menuitemcheckbox', { name: /Share with the space/ }).click()
  await ada.getByText(' · shared with the space').waitFor()
  await ada.keyboard.press('Escape')
  await bob.getByRole('button', { name: 'Space: Personal, with news elsewhere' }).waitFor()
  await expect.poll(() => unreadOf(bob, 'Harbour')).toBe('1 unread conversation')
  await bob.reload()
  await bob.getByRole('button', { name: 'Space: Personal, with news elsewhere' }).waitFor()

  await switchTo(bob, 'Harbour')
  await inHistory(bob, '').getByRole('button').first().click()
  await expect.poll(() => unreadOf(bob, 'Harbour')).toBeNull()
  await switchTo(bob, 'Personal')
  await reloadUnread(bob)
  await spaceButton(bob, 'Personal').waitFor()
  expect(await unreadOf(bob, 'Harbour')).toBeNull()
  expect(await bob.getByRole('button', { name: /with news elsewhere/ }).count()).toBe(0)
  await composerOf(ada).fill('And on Sundays? [[stub tokens=5]]')
  await composerOf(ada).press('Control+Enter')
  await expect.poll(() => unreadOf(bob, 'Harbour')).toBe('1 unread conversation')
  // The address of the space alone reads nothing.
  await bob.goto(`${stage.alcove.url}/?space=${address.searchParams.get('space') ?? ''}`)
  await spaceButton(bob, 'Harbour').waitFor()
  await expect.poll(() => unreadOf(bob, 'Harbour')).toBe('1 unread conversation')
})
