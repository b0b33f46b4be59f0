/** Every screen and state passes axe-core in both themes. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeSpace } from './spaces.ts'
import { composerOf, focusedMenuOf, openStage, type Stage, startChat, storeConversation } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
  page = stage.page
})
afterAll(() => stage.close())

/** The violations that axe finds in both themes. */
async function violations(): Promise<string[]> {
  const found: string[] = []
  for (const theme of ['dark', 'light'] as const) {
    // Contrast is undefined during a colour transition. Even with reduced motion each transition takes a moment, and
    // nested elements start later, so wait until none is running.
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.evaluate(
      (name) =>
        new Promise<void>((drawn) => {
          localStorage.setItem('alcove-ui-theme', name)
          dispatchEvent(new StorageEvent('storage'))
          let stillFrames = 0
          const look = () => {
            const isStill =
              document.documentElement.dataset['theme'] === name &&
              document.getAnimations().every(({ playState }) => playState === 'finished')
            stillFrames = isStill ? stillFrames + 1 : 0
            if (stillFrames > 2) drawn()
            else requestAnimationFrame(look)
          }
          look()
        }),
      theme,
    )
    const { violations: broken } = await new AxeBuilder({ page }).setLegacyMode().analyze()
    found.push(
      ...broken.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${theme}: ${id} at ${target.join(' ')}`)),
    )
  }
  return found
}

const newChat = () => page.getByRole('button', { name: 'New chat' }).first().click()
const tab = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
const escape = () => page.keyboard.press('Escape')

describe('before signing in', () => {
  test('the page that was not found', async () => {
    await page.goto(`${stage.alcove.url}/elsewhere`)
    await page.getByRole('heading', { name: '404 Page Not Found' }).waitFor()
    expect(await violations()).toEqual([])
  })

  test('the gate with an error', async () => {
    await page.route('**/config.json', (route) => route.abort())
    await page.goto(stage.alcove.url)
    await page.getByRole('heading', { name: 'Authentication Error' }).waitFor()
    expect(await violations()).toEqual([])
    await page.unrouteAll()
  })

  test('signing in, with an error and its toast, and signing up', async () => {
    await page.goto(`${stage.alcove.url}/login`)
    await page.getByPlaceholder('Enter your email').fill('somebody@example.test')
    await page.getByPlaceholder('Enter your password').fill('not the password')
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    // Under the pointer it stays for as long as the check takes.
    await page.getByRole('button', { name: 'Close notification' }).hover()
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'Close notification' }).click()
    await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
    expect(await violations()).toEqual([])
    await page.getByRole('button', { name: 'Already have an account? Sign in' }).click()
    await page.getByText('Use test account').click()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Getting Started').waitFor()
  })
})

describe('without a conversation', () => {
  test('the onboarding with its drop area', async () => {
    await page.getByRole('button', { name: 'Upload your first document' }).click()
    expect(await violations()).toEqual([])
  })

  test('each step of the walk-through', async () => {
    await page.getByRole('button', { name: 'Watch tutorial' }).click()
    for (let step = 1; step <= 4; step += 1) {
      await page.getByText(`${step} of 4`, { exact: true }).waitFor()
      expect(await violations(), `step ${step}`).toEqual([])
      if (step < 4) await page.getByRole('button', { name: 'Next' }).click()
    }
    await escape()
  })

  test('the greeting with its suggestions, and the list of tools', async () => {
    await newChat()
    await page.getByRole('heading', { name: 'Welcome back!' }).waitFor()
    expect(await violations()).toEqual([])
    await composerOf(page).pressSequentially('@')
    await page.getByRole('listbox', { name: 'Tools' }).waitFor()
    expect(await violations()).toEqual([])
    await composerOf(page).fill('')
  })

  test.each([['Settings'], ['Account'], [/^Model/]])('the menu %s', async (name) => {
    await page.getByRole('banner').getByRole('button', { name, exact: true }).click()
    await page.getByRole('menu').waitFor()
    expect(await violations()).toEqual([])
    await escape()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  })

  test('the menu within a menu', async () => {
    await page.getByRole('banner').getByRole('button', { name: 'Settings' }).click()
    await focusedMenuOf(page).waitFor()
    await page.getByRole('menuitem', { name: 'Appearance' }).press('ArrowRight')
    await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor()
    expect(await violations()).toEqual([])
    await escape()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  })

  test.each(['Files', 'Users', 'Settings'])('the tab %s', async (name) => {
    await tab(name).click()
    await expect.poll(() => tab(name).getAttribute('aria-expanded')).toBe('true')
    expect(await violations()).toEqual([])
  })

  test('the debug panel', async () => {
    await page.keyboard.press('Control+Shift+D')
    await page.getByRole('heading', { name: 'Broadcast Testing Panel' }).waitFor()
    expect(await violations()).toEqual([])
    await page.keyboard.press('Control+Shift+D')
  })
})

describe('with conversations and documents', () => {
  beforeAll(async () => {
    await tab('Chat').click()
    await page.evaluate(async () => {
      const form = new FormData()
      const text = 'The lamp of the reading room burns until midnight in winter.'
      form.append('files', new File([text], 'lamp-rules.txt', { type: 'text/plain' }))
      await fetch('/api/documents', { method: 'POST', body: form })
    })
    await page.getByText('1 document indexed').waitFor()
  })

  test('an answer with code, a table and maths', async () => {
    const rich = [
      '## Findings\n\n1. *One* [link](https://example.test)\n2. **Two**\n\n> A quote',
      '\n\n```ts\nconst lamp = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nand $x^2$.',
    ].join('')
    await storeConversation(stage, 'A rich answer', [rich])
    await page.getByRole('listitem').filter({ hasText: 'A rich answer' }).getByRole('button').first().click()
    await page.getByRole('heading', { name: 'Findings' }).waitFor()
    await page.locator('code span').first().waitFor()
    await page.locator('.katex').waitFor()
    expect(await violations()).toEqual([])
  })

  test('a conversation with sources, pinned', async () => {
    await startChat(page, 'How long does the lamp burn?')
    const entry = page.getByRole('region', { name: 'Conversations', exact: true }).getByRole('listitem').first()
    await entry.hover()
    await entry.getByRole('button', { name: /^Pin / }).click()
    await page.getByRole('region', { name: 'Pinned Conversations' }).waitFor()
    await page.getByRole('button', { name: 'Close notification' }).click()
    expect(await violations()).toEqual([])
  })

  test('the menu of an answer, and what is said of one', async () => {
    await page.getByRole('button', { name: 'Regenerate' }).last().click()
    await page.getByRole('menu', { name: 'Regenerate' }).waitFor()
    expect(await violations()).toEqual([])
    await escape()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Poor answer' }).last().click()
    await page.getByRole('dialog').waitFor()
    expect(await violations()).toEqual([])
    await escape()
  })

  test('the question before deleting', async () => {
    const entry = page.getByRole('region', { name: 'Pinned Conversations' }).getByRole('listitem').first()
    await entry.hover()
    await entry.getByRole('button', { name: /^Delete / }).click()
    await page.getByRole('alertdialog').waitFor()
    expect(await violations()).toEqual([])
    await escape()
  })

  test('the command palette, empty, with results and without', async () => {
    const dialog = page.getByRole('dialog', { name: 'Search and commands' })
    await page.keyboard.press('Control+k')
    await dialog.getByRole('option').first().waitFor()
    expect(await violations()).toEqual([])
    await dialog.getByRole('combobox').fill('lamp')
    await dialog.getByRole('option', { name: /lamp-rules\.txt/ }).waitFor()
    expect(await violations()).toEqual([])
    await dialog.getByRole('combobox').fill('zanzibar')
    await dialog.getByText('Nothing found for “zanzibar”.').waitFor()
    expect(await violations()).toEqual([])
    await escape()
  })

  test('the list of files and an open document', async () => {
    await tab('Files').click()
    await page.getByRole('button', { name: 'lamp-rules.txt', exact: true }).first().click()
    await page.getByText('burns until midnight').last().waitFor()
    expect(await violations()).toEqual([])
    await tab('Chat').click()
  })

  test('the drawer and the document on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('dialog', { name: 'Document' }).waitFor()
    expect(await violations()).toEqual([])
    await escape()
    await page.getByRole('button', { name: 'Open navigation' }).click()
    await page.getByRole('dialog', { name: 'Navigation' }).waitFor()
    expect(await violations()).toEqual([])
    await escape()
  })

  test('a space: its making, its start page, its members and its settings', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await makeSpace(page, 'Reading room', async () => expect(await violations()).toEqual([]))
    expect(await violations()).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Reading room' }).waitFor()
    expect(await violations()).toEqual([])
    await tab('Users').click()
    await page.getByRole('button', { name: 'Invite by e-mail' }).click()
    await page.getByRole('form', { name: 'Invite by e-mail' }).waitFor()
    expect(await violations()).toEqual([])
    await tab('Settings').click()
    await page.getByRole('list', { name: 'What happened' }).getByRole('listitem').first().waitFor()
    expect(await violations()).toEqual([])
    await tab('Chat').click()
    await page.getByRole('button', { name: /^Space: / }).click()
    await page.getByRole('menu').waitFor()
    expect(await violations()).toEqual([])
    await escape()
  })

  test('a conversation of a space, its links, and what one shows', async () => {
    const id = await startChat(page, 'When does the room close?')
    await page.getByRole('button', { name: 'Share or move conversation' }).click()
    await focusedMenuOf(page).waitFor()
    expect(await violations()).toEqual([])
    await page.getByRole('menuitem', { name: /^Links/ }).click()
    await page.getByRole('button', { name: 'Make a link' }).click()
    const address = await page.getByLabel('Address of the new link').inputValue()
    expect(await violations()).toEqual([])
    await page.goto(`${stage.alcove.url}/${new URL(address).search}`)
    await page.getByText('Shared to be read').waitFor()
    expect(await violations()).toEqual([])
    await page.goto(`${stage.alcove.url}/?chat=${id}`)
    await page.getByText('only you see it').waitFor()
  })

  test('what failed to load', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.route(/\/(rest\/v1|api)\//, (route) => route.abort())
    await page.reload()
    await page.getByText('Failed to load conversations').waitFor()
    await page.getByText('Failed to load chat history. Please try again.').waitFor()
    expect(await violations()).toEqual([])
  })
})
