/** Tools in a conversation: commanded by the person or called by the model, with their results as sources. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, openPage } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { startToolServer, type TestToolServer } from '#test/tool-server.ts'
import { composerOf, openStage, type Stage, startChat, toastOf } from './stage.ts'

let stage: Stage
let page: Page
let engine: Server
let toolServer: TestToolServer

beforeAll(async () => {
  const results = [
    { title: 'Rent and notice', url: 'https://rent.example/?id=7', content: 'The notice period is three months.' },
    { title: 'Deposits', url: 'https://deposit.example/', content: 'Two monthly rents.' },
  ]
  engine = createServer((_request, response) => void response.end(JSON.stringify({ results }))).listen(0, '127.0.0.1')
  await once(engine, 'listening')
  const address = engine.address()
  if (address === null || typeof address === 'string') throw new Error('the search engine has no port')
  toolServer = await startToolServer()
  toolServer.offered.set('keep', 'Keeps a text.')
  stage = await openStage({
    environment: {
      ALLOWED_NETWORKS: '127.0.0.1',
      AUTH_AUTOCONFIRM: 'true',
      TOOL_COMMANDS: `greeter=${process.execPath} ${fileURLToPath(new URL('../test/tool-command.ts', import.meta.url))}`,
      SEARCH_PROVIDER: 'searxng',
      SEARCH_URL: `http://127.0.0.1:${address.port}`,
    },
  })
  page = stage.page
  // Only a model calls tools; until the stand-in's models are listed the built-in Reader answers.
  await page.getByRole('button', { name: 'Model: stub-gpt DEFAULT' }).waitFor()
})
afterAll(async () => {
  await stage.close()
  engine.close()
  toolServer.stop()
})

const tools = () => page.locator('details', { hasText: 'search' })

test('what a typed search finds is cited as pages of the web, which open in a tab of their own', async () => {
  await startChat(page, '@search notice period')
  const card = page.getByRole('link', { name: /Source: Rent and notice/ })
  await card.waitFor()
  expect(await card.getAttribute('href')).toBe('https://rent.example/?id=7')
  expect(await card.getAttribute('rel')).toBe('noopener noreferrer')
  expect(await card.getAttribute('target')).toBe('_blank')
  expect(await card.innerText()).toContain('The notice period is three months.')
  await tools().getByText('done').waitFor()
})

test('a search that the model asks for is a tool message before its answer, after a reload too', async () => {
  await startChat(page, 'What is the notice period? [[stub tool=search]]')
  await tools().getByText('done').waitFor()
  await page.reload()
  await tools().getByText(/\d+ms/).waitFor()
  await page.getByRole('link', { name: /Source: Deposits/ }).waitFor()
})

test('a tool that fails says so in its row, and the answer comes all the same', async () => {
  await startChat(page, 'Look @web http://127.0.0.1:1/')
  const row = page.locator('details', { hasText: 'web' })
  await row.getByText('failed').waitFor()
  await row.locator('summary').click()
  const reason = row.locator('p').getByText('127.0.0.1 is not on the public internet, so it is not read.')
  await reason.waitFor()
  expect(await reason.getAttribute('dir')).toBe('auto')
})

describe('a tool server of the own', () => {
  const settings = (one = page) => one.getByRole('region', { name: 'Tool servers' })
  const permission = (one = page) => one.getByRole('group', { name: 'Permission for a tool' })
  const answers = () => page.getByRole('button', { name: 'Good answer' })
  const calling = (tool: string, given: unknown) =>
    `Call it [[stub tool=${tool} args=${encodeURIComponent(JSON.stringify(given))}]]`
  const question = calling('sums__add', { a: 1, b: 2 })
  const sum = (one = page) => one.locator('details', { hasText: 'sums__add' })

  async function askAnew(text = question): Promise<void> {
    await page.getByRole('button', { name: /start a new chat/ }).click()
    await composerOf(page).fill(text)
    await composerOf(page).press('Control+Enter')
  }

  async function openSettings(one = page): Promise<void> {
    if (!(await settings(one).isVisible()))
      await one.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Settings' }).click()
    await settings(one).waitFor()
  }

  test('is connected in the settings, which say what is wrong and which tools it has', async () => {
    await openSettings()
    await settings().getByRole('button', { name: 'Add a tool server' }).click()
    const form = page.getByRole('form', { name: 'Add a tool server' })
    await form.getByLabel('Name').fill('sums')
    await form.getByLabel('Address').fill('http://127.0.0.1:1/mcp')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').getByText('127.0.0.1:1 cannot be reached', { exact: false }).waitFor()
    await form.getByLabel('Address').fill(toolServer.url)
    await form.getByRole('button', { name: 'Save' }).click()
    await settings().getByText(`${toolServer.url} · add, fail, keep`).waitFor()
  })

  test('is asked for its tools again with a button, which says how many there are', async () => {
    toolServer.offered.set('write', 'Writes a text.')
    await openSettings()
    await settings().getByRole('button', { name: 'Refresh sums' }).click()
    await settings().getByText(`${toolServer.url} · add, fail, keep, write`).waitFor()
    await toastOf(page).getByText('sums offers 4 tools.').waitFor()
  })

  test('is called only when the person allows it, who sees with what, after a reload too', async () => {
    await askAnew()
    await permission().getByText('{"a":1,"b":2}').waitFor()
    await page.reload()
    await permission().getByText('{"a":1,"b":2}').waitFor()
    expect(toolServer.calls).toEqual([])
    await permission().getByRole('button', { name: 'Allow for this conversation' }).click()
    await sum().getByText('done').waitFor()
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    expect(toolServer.calls).toEqual([{ a: 1, b: 2 }])
    await ask(page, question)
    await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(2)
    expect(toolServer.calls).toHaveLength(2)
  })

  test('asks where a screen reader hears it, and marks a tab that is not looked at', async () => {
    const look = (hidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await look(true)
    await askAnew()
    await permission().waitFor()
    const heard = () => page.locator('main [aria-live=polite]').allTextContents()
    await expect.poll(heard).toContain('The tool add of sums asks for your permission.')
    await expect.poll(() => page.title()).toMatch(/^● /)
    await look(false)
    await expect.poll(() => page.title()).toMatch(/^[^●]/)
    await permission().getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    expect(await heard()).not.toContain('The tool add of sums asks for your permission.')
  })

  test('is called with nothing that cannot be read before: a long text is scrolled to its end with the keyboard', async () => {
    const text = `begin ${'long '.repeat(597)}the end`
    await askAnew(calling('sums__keep', { text }))
    const given = permission().getByRole('region', { name: 'What it is called with' })
    await expect.poll(() => given.textContent()).toBe(JSON.stringify({ text }))
    await permission().getByText('All 3,009 characters are sent.', { exact: false }).waitFor()
    const hiddenBelow = () => given.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop)
    expect(await hiddenBelow()).toBeGreaterThan(100)
    await given.focus()
    await page.keyboard.press('End')
    await expect.poll(hiddenBelow).toBeLessThan(2)
    await permission().getByRole('button', { name: 'Allow once' }).click()
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    expect(toolServer.calls.at(-1)).toEqual({ text })
  })

  test('is asked for again in another conversation, and a refusal is a failed run', async () => {
    await askAnew()
    await permission().getByRole('button', { name: 'Deny' }).click()
    await sum().getByText('failed').waitFor()
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    await expect.poll(() => permission().count()).toBe(0)
    expect(toolServer.calls).toHaveLength(3)
  })

  test('is allowed for one call: before the next one it is asked for again', async () => {
    const calls = toolServer.calls.length
    await askAnew()
    await permission().getByRole('button', { name: 'Allow once' }).click()
    await answers().waitFor()
    expect(toolServer.calls).toHaveLength(calls + 1)
    await ask(page, question)
    await permission().getByText('{"a":1,"b":2}').waitFor()
    expect(toolServer.calls).toHaveLength(calls + 1)
    await permission().getByRole('button', { name: 'Allow once' }).click()
    await expect.poll(() => answers().count()).toBe(2)
    expect(toolServer.calls).toHaveLength(calls + 2)
  })

  test('is asked for in each tab of the person, allowed in any of them, and nobody else sees of it', async () => {
    const calls = toolServer.calls.length
    const { page: stranger } = await openPage(stage.browser, `${stage.alcove.url}/login`)
    const heard: string[] = []
    stranger.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => heard.push(payload.toString()))
    })
    await signUp(stranger, freshAddress('stranger'))
    await askAnew()
    await permission().waitFor()
    const there = await page.context().newPage()
    await there.goto(page.url())
    await permission(there).getByText('{"a":1,"b":2}').waitFor()
    await stranger.goto(page.url())
    await openSettings(stranger)
    expect(await settings(stranger).getByRole('listitem').count()).toBe(0)
    await permission(there).getByRole('button', { name: 'Allow once' }).click()
    for (const tab of [page, there]) {
      await sum(tab).getByText('done').waitFor()
      await expect.poll(() => permission(tab).count()).toBe(0)
    }
    expect(toolServer.calls).toHaveLength(calls + 1)
    expect(await permission(stranger).count()).toBe(0)
    expect(heard.length).toBeGreaterThan(0)
    expect(heard.join('\n')).not.toContain('sums')
    await there.close()
    await stranger.context().close()
  })

  test('may be a command of the operator, which is chosen by its name and called as any other', async () => {
    await openSettings()
    await settings().getByRole('button', { name: 'Add a tool server' }).click()
    const form = page.getByRole('form', { name: 'Add a tool server' })
    await form.getByLabel('Kind').selectOption('greeter')
    expect(await form.getByLabel('Address').count()).toBe(0)
    await form.getByLabel('Name').fill('home')
    await form.getByRole('button', { name: 'Save' }).click()
    await settings().getByText('Command greeter · hello').waitFor()
    await askAnew(calling('home__hello', {}))
    await permission().getByRole('button', { name: 'Allow once' }).click()
    const row = page.locator('details', { hasText: 'home__hello' })
    await row.getByText('done').waitFor()
    await row.locator('summary').click()
    await row.locator('p').getByText('Hello from a command, which sees no secret.').waitFor()
  })

  test('is removed after a question, and then no model calls it', async () => {
    const calls = toolServer.calls.length
    await openSettings()
    const remove = settings().getByRole('button', { name: 'Remove sums' })
    await remove.click()
    const question = page.getByRole('alertdialog', { name: 'Remove sums' })
    await question.getByText('Models can no longer call its tools.').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await remove.click()
    await question.getByRole('button', { name: 'Remove' }).click()
    await remove.waitFor({ state: 'detached' })
    await page.reload()
    await openSettings()
    await settings().getByText('Command greeter · hello').waitFor()
    expect(await remove.count()).toBe(0)
    await askAnew()
    await answers().waitFor()
    await sum().getByText('failed').waitFor()
    expect(toolServer.calls).toHaveLength(calls)
  })
})

test('the marker of a page in the Reader’s answer leads to the page', async () => {
  await page.getByRole('button', { name: /^Model/ }).click()
  await page.getByRole('menuitemradio', { name: /Alcove Reader/ }).click()
  await page.getByRole('button', { name: /start a new chat/ }).click()
  await ask(page, '@search notice period')
  const marker = page.getByRole('link', { name: 'Source 1: Rent and notice' })
  await marker.waitFor()
  expect(await marker.getAttribute('rel')).toBe('noopener noreferrer')
})
