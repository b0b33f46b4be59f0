/** The setup of a browser test: a server with its own data, a stand-in model, a browser, a signed-in page. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import type { Browser, Page, Route } from 'playwright-core'
import { type AlcoveProcess, type Environment, startAlcove } from '#test/alcove.ts'
import { type CuttingProxy, startCuttingProxy } from '#test/cutting-proxy.ts'
import { copyStartedDataDir } from '#test/started-data.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { openBrowser, openPage, signInWithTestAccount } from './browser.ts'

export interface Stage {
  readonly alcove: AlcoveProcess
  readonly dataDir: string
  readonly stub: StubModel
  readonly browser: Browser
  readonly page: Page
  /** A client with the key of the service, which no person has. */
  readonly connectOperator: () => Promise<SupabaseClient>
  /** Stores rows as the operator, who may also write assistant messages. */
  readonly insert: (table: 'conversations' | 'messages', rows: readonly Record<string, unknown>[]) => Promise<void>
  close(): Promise<void>
}

/** Starts everything; the stand-in's first model, `stub-gpt`, is the default. */
export async function openStage({
  signedIn = true,
  environment = {},
  switches = [],
  models = 'stub-gpt',
  stubSettings = {},
}: {
  signedIn?: boolean
  environment?: Environment | ((stub: StubModel) => Environment)
  switches?: readonly string[]
  models?: string
  /** Initial settings of the stand-in model. */
  stubSettings?: Parameters<typeof startStubModel>[0]
} = {}): Promise<Stage> {
  const [folder, stub, browser] = await Promise.all([
    copyStartedDataDir(),
    startStubModel({ models, tokens: 40, tps: 200, ...stubSettings }),
    openBrowser(switches),
  ])
  const alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
    ...(typeof environment === 'function' ? environment(stub) : environment),
  })
  // Until then a page offers only the built-in Reader.
  if (stubSettings.listheld === undefined) await alcove.printed('the endpoint listed its models')
  const { page } = await openPage(browser, alcove.url)
  if (signedIn) await signInWithTestAccount(page)
  const connectOperator = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/keys.ts'], {
      env: { ...process.env, DATA_DIR: folder.dataDir },
    })
    const { serviceRoleKey } = JSON.parse(stdout) as { serviceRoleKey: string }
    return createClient(alcove.url, serviceRoleKey, { auth: { persistSession: false } })
  }
  let operator: ReturnType<typeof connectOperator> | null = null
  return {
    alcove,
    dataDir: folder.dataDir,
    stub,
    browser,
    page,
    connectOperator,
    async insert(table, rows) {
      operator ??= connectOperator()
      const { error } = await (await operator).from(table).insert([...rows])
      if (error !== null) throw error
    },
    async close() {
      await browser.close()
      await alcove.end()
      await stub.stop()
      await folder.remove()
    },
  }
}

/** A second page of the person, whose network can be cut. Close the proxy before the stage. */
export async function openShakyPage({ alcove, browser }: Stage): Promise<{ page: Page; proxy: CuttingProxy }> {
  const proxy = await startCuttingProxy(alcove.url)
  const { page } = await openPage(browser, proxy.url)
  await signInWithTestAccount(page)
  return { page, proxy }
}

export const composerOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })

/** A menu takes the focus after it is drawn: a key that is pressed earlier goes elsewhere. */
export const focusedMenuOf = (page: Page) => page.locator('[role=menu]:focus-within')

export const toastOf = (page: Page) =>
  page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Close notification' }) })

/** Starts a chat with a question; resolves when its answer is stored. */
export async function startChat(page: Page, question: string): Promise<string> {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(page).fill(question)
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  return new URL(page.url()).searchParams.get('chat') ?? ''
}

/** Reloads the page; its list of conversations fails to load until Try again is pressed. */
export async function showUnreadableList(page: Page, refuse: (route: Route) => Promise<void>): Promise<void> {
  let failing = true
  await page.route(/\/(rest\/v1\/conversations|api\/users)/, (route) => (failing ? refuse(route) : route.fallback()))
  await page.reload()
  await page.getByText('Failed to load conversations').waitFor()
  // Not earlier: the list is refetched when live changes start, and would appear without a press.
  page.once('framenavigated', () => {
    failing = false
  })
}

export const userIdOf = (page: Page): Promise<string> =>
  page.evaluate(() => (JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as { user: { id: string } }).user.id)

/** Stores a conversation of the stage's person; its messages are answers without questions. */
export async function storeConversation(
  { insert, page }: Stage,
  title: string,
  contents: readonly string[],
): Promise<{ id: string; messageIds: string[] }> {
  const id = randomUUID()
  const messageIds = contents.map(() => randomUUID())
  await insert('conversations', [{ id, uid: await userIdOf(page), title, model_name: 'alcove-reader' }])
  const rows = contents.map((content, index) => ({
    id: messageIds[index],
    conversation_id: id,
    content,
    sender_role: 2,
  }))
  await insert('messages', rows)
  return { id, messageIds }
}
