/** Two people change the same space: nothing is overwritten silently, refused in riddles, or shown after the end. */
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
  stage = await openStage({ models: 'stub-gpt', environment: { AUTH_AUTOCONFIRM: 'true', PUBLIC_LINKS: 'on' } })
  ada = stage.page
  ;({ page: bob } = await openPage(stage.browser, `${stage.alcove.url}/login`))
  await signUp(bob, bobsAddress)
  await makeSpace(ada, 'Harbour')
  await addDocument(ada, 'rules.txt', 'The harbour closes at nine.')
  await ada.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await openTab(ada, 'Users')
  await ada.getByRole('button', { name: 'Invite by e-mail', exact: true }).click()
  const form = ada.getByRole('form', { name: 'Invite by e-mail' })
  await form.getByLabel('E-mail').fill(bobsAddress)
  await form.getByLabel('Role').selectOption('Editor')
  await form.getByRole('button', { name: 'Invite', exact: true }).click()
  await bob.getByRole('button', { name: 'Join Harbour' }).first().click()
  await spaceButton(bob, 'Harbour').waitFor()
}, 120_000)
afterAll(() => stage.close())

/** Opens a tab of the side panel, which a click on the open one would collapse. */
async function openTab(page: Page, name: string): Promise<void> {
  const tab = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
  if ((await tab.getAttribute('aria-expanded')) !== 'true') await tab.click()
}
const instructions = (page: Page) => page.getByRole('textbox', { name: 'Instructions' })
const spaceOf = (page: Page) => new URL(page.url()).searchParams.get('space')
const row = (page: Page) => page.getByRole('region', { name: 'Chat history' }).getByRole('listitem').first()

test('of two who change the instructions, the second learns of the first, and keeps what was typed over a reload', async () => {
  await openTab(ada, 'Settings')
  await openTab(bob, 'Settings')
  await instructions(bob).fill('Answer briefly.')
  await instructions(ada).fill('Answer in verse.')
  await ada.getByRole('form', { name: 'Instructions' }).getByRole('button', { name: 'Save' }).click()
  const conflict = bob.getByRole('alert').filter({ hasText: 'Another member has changed the instructions' })
  await conflict.getByText('Answer in verse.').waitFor()
  expect(await instructions(bob).inputValue()).toBe('Answer briefly.')
  await bob.reload()
  await openTab(bob, 'Settings')
  await conflict.waitFor()
  expect(await instructions(bob).inputValue()).toBe('Answer briefly.')
  await conflict.getByRole('button', { name: 'Go on with mine' }).click()
  await bob.getByRole('form', { name: 'Instructions' }).getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => instructions(ada).inputValue()).toBe('Answer briefly.')
})

test('the draft of a new conversation stays in its space', async () => {
  await openTab(bob, 'Chat')
  await composerOf(bob).fill('A question to the harbour')
  await switchTo(bob, 'Personal')
  expect(await composerOf(bob).inputValue()).toBe('')
  await switchTo(bob, 'Harbour')
  await expect.poll(() => composerOf(bob).inputValue()).toBe('A question to the harbour')
  await composerOf(bob).fill('')
})

test('the app opens in the space where the person was; an address decides otherwise', async () => {
  const space = spaceOf(bob)
  await bob.goto(stage.alcove.url)
  await spaceButton(bob, 'Harbour').waitFor()
  expect(spaceOf(bob)).toBe(space)
  await switchTo(bob, 'Personal')
  await bob.goto(stage.alcove.url)
  await spaceButton(bob, 'Personal').waitFor()
  const otherTab = await bob.context().newPage()
  await otherTab.goto(`${stage.alcove.url}/?space=${space ?? ''}`)
  await spaceButton(otherTab, 'Harbour').waitFor()
  await otherTab.close()
  await bob.goto(stage.alcove.url)
  await spaceButton(bob, 'Personal').waitFor()
  expect(spaceOf(bob)).toBeNull()
  await bob.goto(`${stage.alcove.url}/?space=${space ?? ''}`)
  await spaceButton(bob, 'Harbour').waitFor()
})

test('a link for anybody is made with a warning, and is listed and revoked in the settings of the space', async () => {
  await openTab(ada, 'Chat')
  await startChat(ada, 'When does it close? [[stub tokens=5]]')
  await ada.getByRole('button', { name: 'Share or move conversation' }).click()
  await ada.getByRole('menuitem', { name: 'Links to read it…' }).click()
  const dialog = ada.getByRole('dialog', { name: 'Links to read it' })
  await dialog.getByLabel('Who can open it').selectOption('Anybody who has the link')
  await dialog.getByText(/reads the conversation without an account/).waitFor()
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  const address = await dialog.getByLabel('Address of the new link').inputValue()
  await ada.keyboard.press('Escape')
  const { page: stranger } = await openPage(stage.browser, address)
  await stranger.getByText('When does it close?').first().waitFor()
  await openTab(ada, 'Settings')
  const links = ada.getByRole('main').or(ada.locator('#side-panel')).getByRole('list', { name: 'Links' })
  await links.getByText(/^Made by .* on /).waitFor()
  await links.getByText(/^For anybody · ends on /).waitFor()
  await links.getByRole('button', { name: /^Revoke the link to “/ }).click()
  await ada.getByText('None. A link shows one conversation').waitFor()
  await stranger.reload()
  await stranger.getByRole('heading', { name: /Sign in to read this|This link shows nothing/ }).waitFor()
})

test('documents and conversations are copied to another place, and stay where they are', async () => {
  await openTab(ada, 'Files')
  const library = ada.getByRole('region', { name: 'Library' })
  await library.getByRole('button', { name: 'Move rules.txt' }).click()
  await ada.getByRole('menuitem', { name: 'Copy to' }).press('ArrowRight')
  await ada.getByRole('menuitem', { name: 'Personal' }).last().click()
  await toastOf(ada).getByText('“rules.txt” has a copy in Personal now.').waitFor()
  await library.getByText('rules.txt').waitFor()
  await openTab(ada, 'Chat')
  const title = await ada.getByRole('main').getByRole('heading', { level: 1 }).textContent()
  await ada.getByRole('button', { name: 'Share or move conversation' }).click()
  await ada.getByRole('menuitem', { name: 'Copy to' }).press('ArrowRight')
  await ada.getByRole('menuitem', { name: 'Personal' }).last().click()
  await toastOf(ada)
    .getByText(`“${title ?? ''}” has a copy in Personal now`)
    .waitFor()
  expect(spaceOf(ada)).not.toBeNull()
  await switchTo(ada, 'Personal')
  await row(ada).waitFor()
  await openTab(ada, 'Files')
  await library.getByText('rules.txt').waitFor()
  await switchTo(ada, 'Harbour')
  await openTab(ada, 'Chat')
})

/** Texts of the notifications that a page shows from now on. */
const recordToasts = (page: Page) =>
  page.evaluateHandle(() => {
    const texts: string[] = []
    new MutationObserver((changes) => {
      for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
        if (node instanceof Element && node.closest('[aria-label^=Notifications]')) texts.push(node.textContent)
    }).observe(document.body, { childList: true, subtree: true })
    return texts
  })

test('an owner ends the sharing of another’s conversation, which its author reads at once and keeps', async () => {
  await openTab(bob, 'Chat')
  await startChat(bob, 'What of the fog? [[stub tokens=5]]')
  await bob.getByRole('button', { name: 'Share or move conversation' }).click()
  await bob.getByRole('menuitemcheckbox', { name: /Share with the space/ }).click()
  await bob.getByText(' · shared with the space').waitFor()
  await bob.keyboard.press('Escape')
  await composerOf(bob).fill('And when does it lift?')
  await openTab(ada, 'Chat')
  const shared = ada
    .getByRole('region', { name: 'Chat history' })
    .getByRole('listitem')
    .filter({ hasText: 'Shared with the space' })
  await shared.click()
  await ada.getByText(' · shared by ').waitFor()
  await ada.getByRole('button', { name: 'Share or move conversation' }).click()
  await ada.getByRole('menuitem', { name: /Stop sharing with the space/ }).click()
  const confirmation = ada.getByRole('alertdialog', { name: 'Stop sharing with the space' })
  await confirmation.waitFor()
  await ada.keyboard.press('Escape')
  const menuButton = ada.getByRole('button', { name: 'Share or move conversation' })
  await expect.poll(() => menuButton.evaluate((button) => button === document.activeElement)).toBe(true)
  await composerOf(ada).fill('Typed by an owner')
  await menuButton.click()
  await ada.getByRole('menuitem', { name: /Stop sharing with the space/ }).click()
  const toasts = await recordToasts(ada)
  await confirmation.getByRole('button', { name: 'Stop sharing' }).click()
  await toastOf(ada)
    .getByText(/^Only its author sees “/)
    .waitFor()
  await expect.poll(() => shared.count()).toBe(0)
  expect(new URL(ada.url()).searchParams.has('chat')).toBe(false)
  await expect.poll(() => composerOf(ada).inputValue()).toBe('Typed by an owner')
  await composerOf(ada).fill('')
  const told = (await toasts.jsonValue()).join()
  expect(told).toContain('No longer shared')
  expect(told).not.toContain('Conversation closed')
  await toastOf(bob)
    .getByText('It was ended by you elsewhere, or by an owner of “Harbour”. Only you see this conversation now.')
    .waitFor()
  await bob.getByText(' · only you see it').waitFor()
  expect(await composerOf(bob).inputValue()).toBe('And when does it lift?')
  await composerOf(bob).fill('')
})

test('an owner deletes what another shares; the author of an archived one pins nothing', async () => {
  await openTab(bob, 'Chat')
  await startChat(bob, 'What of the tide? [[stub tokens=5]]')
  await bob.getByRole('button', { name: 'Share or move conversation' }).click()
  await bob.getByRole('menuitemcheckbox', { name: /Share with the space/ }).click()
  await bob.getByText(' · shared with the space').waitFor()
  await bob.keyboard.press('Escape')
  const shared = ada
    .getByRole('region', { name: 'Chat history' })
    .getByRole('listitem')
    .filter({ hasText: 'Shared with the space' })
  await shared.hover()
  expect(await shared.getByRole('button', { name: /^Pin /, includeHidden: true }).count()).toBe(0)
  await shared.getByRole('button', { name: /^Delete / }).click()
  await ada.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await toastOf(bob).getByText('Chat deleted').waitFor()

  await startChat(bob, 'And of the wind? [[stub tokens=5]]')
  await row(bob).getByRole('button', { name: /^Pin /, includeHidden: true }).waitFor({ state: 'attached' })
  await openTab(ada, 'Settings')
  await ada.getByRole('button', { name: 'Archive this space', exact: true }).click()
  await expect.poll(() => row(bob).getByRole('button', { name: /^Pin /, includeHidden: true }).count()).toBe(0)
  expect(
    await row(bob)
      .getByRole('button', { name: /^Delete / })
      .count(),
  ).toBe(1)
})

test('a change that is refused meanwhile is told in plain words', async () => {
  await openTab(ada, 'Settings')
  await ada.getByRole('button', { name: 'Take back into use', exact: true }).click()
  await openTab(bob, 'Settings')
  // Bob's page has read that the space is in use again.
  await bob.getByRole('button', { name: 'Change the name', exact: true }).waitFor()
  // The page of Bob does not hear of the new role: the server decides.
  await bob.route(/\/rest\/v1\/(spaces|space_members)/, (route) =>
    route.request().method() === 'GET' ? route.abort() : route.fallback(),
  )
  await bob.getByRole('button', { name: 'Change the name', exact: true }).click()
  const form = bob.getByRole('form', { name: 'Name of the space' })
  await form.getByLabel('Name').fill('Old harbour')
  await openTab(ada, 'Users')
  await ada
    .getByRole('list', { name: 'Members' })
    .getByRole('button', { name: /^Change bob/ })
    .click()
  await ada.getByRole('menuitemradio', { name: 'Reader' }).click()
  await expect.poll(() => ada.getByRole('list', { name: 'Members' }).getByText('Reader').count()).toBe(1)
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('It was removed or changed meanwhile, or you may no longer change it.').waitFor()
  await bob.unroute(/\/rest\/v1\/(spaces|space_members)/)
})

test('a reader who drags files is told that none are taken', async () => {
  await bob.reload()
  await spaceButton(bob, 'Harbour').waitFor()
  await openTab(bob, 'Files')
  await bob.getByRole('region', { name: 'Library' }).getByText('Owners and editors add documents here.').waitFor()
  const files = await bob.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['Mine.'], 'mine.txt', { type: 'text/plain' }))
    return transfer
  })
  await bob.dispatchEvent('main', 'dragenter', { dataTransfer: files })
  await bob.evaluate(
    () => new Promise<void>((painted) => requestAnimationFrame(() => requestAnimationFrame(() => painted()))),
  )
  expect(await bob.getByText('Drop files here to upload').count()).toBe(0)
  await bob.dispatchEvent('main', 'drop', { dataTransfer: files })
  await toastOf(bob).getByText('Owners and editors add documents here.').waitFor()
})

test('a deleted space leaves a receipt', async () => {
  await openTab(ada, 'Settings')
  await ada.getByRole('button', { name: 'Delete this space', exact: true }).click()
  const dialog = ada.getByRole('dialog', { name: 'Delete Space' })
  await dialog.getByLabel('To confirm, type Harbour').fill('Harbour')
  await dialog.getByRole('button', { name: 'Delete everything in it' }).click()
  const receipt = ada.getByRole('region', { name: 'Receipt of a deleted space' })
  await receipt.getByText('“Harbour” was deleted with 1 document').waitFor()
  const [saved] = await Promise.all([
    ada.waitForEvent('download'),
    receipt.getByRole('button', { name: 'Save the receipt' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('alcove-space-receipt.json')
  await receipt.getByRole('button', { name: 'Dismiss' }).click()
  await expect.poll(() => receipt.count()).toBe(0)
})
