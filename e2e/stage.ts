/** Everything a browser test stands on: a server with its own data, a stand-in model, a browser, a page that is signed in. */
import { type Browser, type Page } from 'playwright-core'
import { type AlcoveProcess, createDataDir, type Environment, startAlcove } from '#test/alcove.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'
import { openBrowser, openPage, signInWithTestAccount } from './browser.ts'

export interface Stage {
  readonly alcove: AlcoveProcess
  readonly stub: StubModel
  readonly browser: Browser
  /** At the sign-in page, or signed in. */
  readonly page: Page
  close(): Promise<void>
}

/** Sets everything up; the model `stub-gpt` is the default one. */
export async function openStage({
  signedIn = true,
  environment = {},
  switches = [],
}: { signedIn?: boolean; environment?: Environment; switches?: readonly string[] } = {}): Promise<Stage> {
  const [folder, stub, browser] = await Promise.all([
    createDataDir(),
    startStubModel({ models: 'stub-gpt', tokens: 40, tps: 200 }),
    openBrowser(switches),
  ])
  const alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
    ...environment,
  })
  const { page } = await openPage(browser, alcove.url)
  page.setDefaultTimeout(15_000)
  if (signedIn) await signInWithTestAccount(page)
  return {
    alcove,
    stub,
    browser,
    page,
    async close() {
      await browser.close()
      await alcove.end()
      await stub.stop()
      await folder.remove()
    },
  }
}

/** The message box. */
export const composerOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })

/** Begins a new chat with a question; ends when its answer is stored. */
export async function startChat(page: Page, question: string): Promise<string> {
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(page).fill(question)
  await composerOf(page).press('Control+Enter')
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  return new URL(page.url()).searchParams.get('chat') ?? ''
}
