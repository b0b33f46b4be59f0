/** Two people in one space: invited in the page, asking, sharing, seeing it live, changed and removed while typing. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { addDocument, makeSpace, spaceButton, switchTo } from './spaces.ts'
import { composerOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

let stage: Stage
let ada: Page
let bob: Page
const bobsAddress = freshAddress('bob')

beforeAll(async () => {
  stage = await openStage({ models: 'stub-gpt', environment: { AUTH_AUTOCONFIRM: 'true' } })
  ada = stage.page
  const { page } = await openPage(stage.browser, `${stage.alcove.url}/login`)
  bob = page
  await signUp(bob, bobsAddress)
})
afterAll(() => stage.close())

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
const members = (page: Page) => page.getByRole('list', { name: 'Members' })
const spaceOf = (page: Page) => new URL(page.url()).searchParams.get('space')

async function chooseRole(role: string): Promise<void> {
  await members(ada)
    .getByRole('button', { name: /^Change bob/ })
    .click()
  await ada.getByRole('menuitemradio', { name: role }).click()
}

test('an invitation shows in the open page of the person, who joins by one press', async () => {
  await makeSpace(ada, 'Reading room')
  await addDocument(ada, 'rules.txt', 'The reading room closes at nine in winter.')
  await ada.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await tab(ada, 'Users').click()
  await ada.getByText('Only you so far').waitFor()
  await button(ada, 'Invite by e-mail').click()
  const form = ada.getByRole('form', { name: 'Invite by e-mail' })
  await form.getByLabel('E-mail').fill(bobsAddress)
  await form.getByRole('button', { name: 'Invite', exact: true }).click()
  await toastOf(ada).getByText('Invitation sent').waitFor()
  await ada.getByRole('list', { name: 'Invited' }).getByText(bobsAddress).waitFor()

  const card = bob.getByRole('article', { name: 'Invitation to Reading room' }).first()
  await card.getByText('1 document · 1 member').waitFor()
  await card.getByText('As a reader, you ask and read').waitFor()
  await card.getByRole('button', { name: 'Join Reading room' }).click()
  await spaceButton(bob, 'Reading room').waitFor()
  await bob.getByRole('region', { name: 'Documents' }).getByText('rules.txt').waitFor()
  await ada.getByText('2 members, 2 here now').waitFor()
  await expect.poll(() => ada.getByRole('list', { name: 'Invited' }).count()).toBe(0)
})

test('a reader sees documents come and go, and neither adds nor changes any', async () => {
  await tab(bob, 'Files').click()
  const library = bob.getByRole('region', { name: 'Library' })
  await library.getByText('Owners and editors add documents here.').waitFor()
  await library.getByText('rules.txt').waitFor()
  expect(await library.getByRole('button', { name: /^(Delete|Rename) / }).count()).toBe(0)
  await tab(ada, 'Files').click()
  const own = ada.getByRole('region', { name: 'Library' })
  const draft = { name: 'draft.txt', mimeType: 'text/plain', buffer: Buffer.from('A draft of the rules.') }
  await own.getByLabel('Files to upload').setInputFiles(draft)
  await library.getByText('draft.txt').waitFor()
  await own.getByRole('button', { name: 'Delete draft.txt' }).click()
  await ada.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => library.getByText('draft.txt').count()).toBe(0)
  await tab(bob, 'Chat').click()
})

test('a conversation is seen by the members once it is shared, live, with who asked, and is read only by readers', async () => {
  await tab(ada, 'Chat').click()
  await startChat(ada, 'When does the room close? [[stub tokens=20]]')
  expect(await bob.getByRole('region', { name: 'Chat history' }).getByRole('listitem').count()).toBe(0)
  await button(ada, 'Share or move conversation').click()
  await ada.getByRole('menuitemcheckbox', { name: /Share with the space/ }).click()
  await ada.getByText(' · shared with the space').waitFor()
  await ada.keyboard.press('Escape')

  const listed = bob.getByRole('region', { name: 'Chat history' }).getByRole('listitem').first()
  await listed.getByText('Shared with the space').waitFor()
  await listed.getByRole('button').first().click()
  await bob.getByText(/shared by/).waitFor()
  await bob.getByText('You can read this conversation.').waitFor()
  expect(await composerOf(bob).getAttribute('readonly')).not.toBeNull()
  await composerOf(ada).fill('And in summer? [[stub tokens=30]]')
  await bob.getByText(/is typing…/).waitFor()
  await composerOf(ada).press('Control+Enter')
  await bob.getByText('And in summer?').waitFor()
  await expect.poll(() => button(bob, 'Good answer').count()).toBe(2)
  expect(await bob.getByRole('article', { name: /^Message of / }).count()).toBe(2)
})

test('an editor goes on in it from one moment to the next, and both see who asked', async () => {
  await tab(ada, 'Users').click()
  await chooseRole('Editor')
  await toastOf(bob).getByText('You are now an editor of “Reading room”').waitFor()
  await expect.poll(() => composerOf(bob).getAttribute('readonly')).toBeNull()
  await composerOf(bob).fill('On Sundays? [[stub tokens=10]]')
  await composerOf(bob).press('Control+Enter')
  await expect.poll(() => button(ada, 'Good answer').count()).toBe(3)
  await ada.getByRole('article', { name: /^Message of bob/ }).waitFor()
})

test('in the conversation of another the page shows the model that its author chose, and others cannot choose another', async () => {
  const picker = bob.getByRole('button', { name: /^Model: / })
  await expect.poll(() => picker.getAttribute('aria-disabled')).toBe('true')
  expect(await picker.innerText()).toContain('stub-gpt')
  await picker.click({ force: true })
  await bob.getByRole('tooltip', { name: 'The author of this conversation chooses its model.' }).waitFor()
  expect(await bob.getByRole('menu', { name: 'Models' }).count()).toBe(0)
  await button(bob, 'New chat').first().click()
  await expect.poll(() => picker.getAttribute('aria-disabled')).toBeNull()
  await picker.click()
  await bob.getByRole('menuitemradio', { name: /Alcove Reader/ }).click()
  await bob.goBack()
  await bob.getByRole('article', { name: 'Your message' }).getByText('On Sundays?').waitFor()
  await expect.poll(() => picker.innerText()).toContain('stub-gpt')
  await button(bob, 'Your data stays private').click()
  await bob
    .getByRole('tooltip')
    .getByText(/are sent to 127\.0\.0\.1/)
    .waitFor()
  await bob.keyboard.press('Escape')
})

test('a person who is removed while typing is back in Personal, with what was typed', async () => {
  await composerOf(bob).fill('Half a question of Bob')
  await members(ada)
    .getByRole('button', { name: /^Change bob/ })
    .click()
  await ada.getByRole('menuitem', { name: 'Remove from the space' }).click()
  const before = performance.now()
  await ada.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await expect.poll(() => spaceOf(bob)).toBeNull()
  expect(performance.now() - before).toBeLessThan(5_000)
  await toastOf(bob).getByText('You are no longer in “Reading room”').waitFor()
  await expect.poll(() => composerOf(bob).inputValue()).toBe('Half a question of Bob')
  expect(await bob.getByText('When does the room close?').count()).toBe(0)
  await ada.getByText('Only you so far').waitFor()
  await bob.getByRole('button', { name: /^Space: / }).click()
  expect(await bob.getByRole('menuitemradio', { name: 'Reading room' }).count()).toBe(0)
  await bob.keyboard.press('Escape')
})

test('a link shows the conversation to signed-in people until it is revoked', async () => {
  await tab(ada, 'Chat').click()
  await button(ada, 'Share or move conversation').click()
  await ada.getByRole('menuitem', { name: 'Links to read it…' }).click()
  const dialog = ada.getByRole('dialog', { name: 'Links to read it' })
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  const address = await dialog.getByLabel('Address of the new link').inputValue()
  const token = new URL(address).searchParams.get('link') ?? ''
  expect(token.length).toBeGreaterThan(20)
  await bob.goto(`${stage.alcove.url}/?link=${token}`)
  await bob.getByText('When does the room close?').first().waitFor()
  await bob.getByText(/^Shared to be read, until /).waitFor()
  expect(await composerOf(bob).count()).toBe(0)

  const { page: stranger } = await openPage(stage.browser, `${stage.alcove.url}/?link=${token}`)
  await stranger.getByRole('heading', { name: 'Sign in to read this' }).waitFor()

  await dialog.getByRole('button', { name: /^Revoke the link/ }).click()
  await expect.poll(() => dialog.getByRole('list', { name: 'Links' }).count()).toBe(0)
  await bob.reload()
  await bob.getByRole('heading', { name: 'This link shows nothing' }).waitFor()
  await ada.keyboard.press('Escape')
})

test('the space tells its owner what happened', async () => {
  await tab(ada, 'Settings').click()
  const events = ada.getByRole('list', { name: 'What happened' })
  await events.getByText(/created the space/).waitFor()
  await events.getByText(/removed/).waitFor()
  await events.getByText(/made a link/).waitFor()
  await switchTo(ada, 'Personal')
})
