/** Browsers that refuse their storage to the page, or have no room left. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { collectErrors, signInWithTestAccount } from './browser.ts'
import { composerOf, openStage, type Stage, startChat } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await openStage({
    signedIn: false,
    switches: ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
    environment: { OPENAI_BROWSER_KEY: 'for browsers' },
  })
})
afterAll(() => stage.close())

const noticeOf = (page: Page) => page.getByRole('status').filter({ hasText: 'Reloading or leaving this page' })

const REFUSED =
  'This browser stores nothing for this page. Reloading or leaving this page signs you out and loses what you typed and ' +
  'did not send, recordings without a transcript, files that are not sent yet, and the settings of this browser.'

async function openIn(
  context: BrowserContext,
  change?: () => void,
): Promise<{ page: Page; faults: readonly string[] }> {
  onTestFinished(() => context.close())
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const faults = collectErrors(page)
  if (change !== undefined) await page.addInitScript(change)
  await page.goto(stage.alcove.url)
  return { page, faults }
}

const openChanged = async (change?: () => void) =>
  openIn(await stage.browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }), change)

let uploads = 0

async function uploadFile(page: Page): Promise<void> {
  uploads += 1
  const name = `storage-${uploads}.txt`
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await page
    .getByLabel('Files to upload')
    .first()
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(`The storage test number ${uploads}.`) })
  await page.getByRole('region', { name: 'Files' }).getByRole('listitem').filter({ hasText: name }).waitFor()
}

async function record(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Speak your message' }).click()
  await page.getByText('0:01', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop recording' }).click()
}

async function transcribe(page: Page): Promise<void> {
  await record(page)
  await expect.poll(() => composerOf(page).inputValue()).toContain('this is the fixed transcript of the stub')
  await composerOf(page).fill('')
}

/** Everything that a session is for. */
async function work(page: Page): Promise<void> {
  await signInWithTestAccount(page)
  await startChat(page, 'Hello')
  await composerOf(page).fill('Half a thought')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await page.goBack()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Half a thought')
  await composerOf(page).fill('')
  await transcribe(page)
  await uploadFile(page)
}

const REFUSALS: Record<string, () => void> = {
  'access to every storage throws': () => {
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException('The operation is insecure.', 'SecurityError')
        },
      })
  },
  'every storage is null': () => {
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'BroadcastChannel'])
      Object.defineProperty(window, name, { value: null })
    Object.defineProperty(navigator, 'locks', { value: undefined })
  },
  'every storage is undefined': () => {
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'BroadcastChannel'])
      Object.defineProperty(window, name, { value: undefined })
  },
  'reading and writing throw': () => {
    const refuse = (): never => {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    }
    Object.assign(Storage.prototype, { getItem: refuse, setItem: refuse, removeItem: refuse })
    Object.assign(IDBFactory.prototype, { open: refuse, databases: refuse })
    LockManager.prototype.request = () => Promise.reject(new DOMException('Access is denied.', 'SecurityError'))
    LockManager.prototype.query = () => Promise.reject(new DOMException('Access is denied.', 'SecurityError'))
  },
}

test.each(Object.entries(REFUSALS))('the page works where %s, and says what will be lost', async (_, change) => {
  const { page, faults } = await openChanged(change)
  await noticeOf(page).getByText(`${REFUSED} Sign in with a password or a mailed code`).waitFor()
  await work(page)
  expect(await noticeOf(page).textContent()).toBe(REFUSED)
  await page.getByRole('button', { name: 'Close notice' }).click()
  await expect.poll(() => noticeOf(page).count()).toBe(0)
  expect(faults).toEqual([])
})

const FAULTY_DATABASES: Record<string, () => void> = {
  'does not open': () => {
    IDBFactory.prototype.open = function () {
      const request = new EventTarget() as IDBOpenDBRequest
      Object.defineProperty(request, 'error', { value: new DOMException('Internal error.', 'UnknownError') })
      setTimeout(() => request.dispatchEvent(new Event('error')))
      return request
    }
  },
  'never answers': () => {
    IDBFactory.prototype.open = () => new EventTarget() as IDBOpenDBRequest
    IDBFactory.prototype.databases = () => new Promise(() => undefined)
  },
  'is full': () => {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the store
    const put = IDBObjectStore.prototype.put
    IDBObjectStore.prototype.put = function (...row: Parameters<typeof put>) {
      const request = put.apply(this, row)
      this.transaction.abort()
      return request
    }
  },
}

test.each(Object.entries(FAULTY_DATABASES))(
  'recordings and files are usable where the database %s',
  async (_, change) => {
    const { page, faults } = await openChanged(change)
    await work(page)
    expect(faults).toEqual([])
    await page.route('**/api/transcribe', (route) => route.abort())
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await record(page)
    await page.getByRole('group', { name: 'Recording' }).getByRole('button', { name: 'Try again' }).waitFor()
    await noticeOf(page)
      .getByText('Reloading or leaving this page loses recordings without a transcript.', { exact: false })
      .waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => composerOf(page).inputValue()).toContain('this is the fixed transcript of the stub')
    await expect.poll(() => noticeOf(page).count()).toBe(0)
  },
)

test('the page works in a browser whose cookies and site data are blocked', async () => {
  const profile = await mkdtemp(path.join(tmpdir(), 'alcove-profile-'))
  onTestFinished(() => rm(profile, { recursive: true, force: true }))
  await mkdir(path.join(profile, 'Default'))
  await writeFile(
    path.join(profile, 'Default', 'Preferences'),
    JSON.stringify({ profile: { default_content_setting_values: { cookies: 2 } } }),
  )
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--no-first-run', '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
    ], // prettier-ignore
    viewport: { width: 1440, height: 900 },
  })
  const { page, faults } = await openIn(context)
  expect(
    await page.evaluate(() =>
      Promise.resolve()
        .then(() => typeof localStorage)
        .catch(String),
    ),
  ).toContain('denied')
  await work(page)
  expect(await noticeOf(page).textContent()).toBe(REFUSED)
  expect(faults).toEqual([])
})

test('with a full storage nothing typed is lost, and what is not stored yet is stored once there is room', async () => {
  const { page, faults } = await openChanged()
  await signInWithTestAccount(page)
  const id = await startChat(page, 'Hello')
  await page.evaluate(() => {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- put back as it was
    const set = Storage.prototype.setItem
    Object.assign(window, { makeRoom: () => void (Storage.prototype.setItem = set) })
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    }
  })
  await composerOf(page).fill('A thought')
  await noticeOf(page)
    .getByText('This browser has not stored everything. Reloading or leaving this page loses what you typed')
    .waitFor()
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await composerOf(page).fill('Another thought')
  await page.goBack()
  await expect.poll(() => composerOf(page).inputValue()).toBe('A thought')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Another thought')
  await page.evaluate(() => (window as unknown as { makeRoom: () => void }).makeRoom())
  await expect.poll(() => noticeOf(page).count(), { timeout: 30_000 }).toBe(0)
  await page.reload()
  await expect.poll(() => composerOf(page).inputValue()).toBe('Another thought')
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await expect.poll(() => composerOf(page).inputValue()).toBe('A thought')
  expect(faults).toEqual([])
})

test('a person can sign in where the storage is full', async () => {
  const { page, faults } = await openChanged(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    }
  })
  await work(page)
  await noticeOf(page)
    .getByText('This browser has not stored everything. Reloading or leaving this page signs you out.')
    .waitFor()
  expect(faults).toEqual([])
})

test('a storage that is refused while the page is open does not end the session', async () => {
  const { page, faults } = await openChanged()
  await signInWithTestAccount(page)
  await page.evaluate(() =>
    Object.defineProperty(window, 'localStorage', {
      get: () => {
        throw new DOMException('The operation is insecure.', 'SecurityError')
      },
    }),
  )
  await startChat(page, 'Hello')
  await noticeOf(page).getByText(REFUSED).waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByText('Use test account').waitFor()
  expect(faults).toEqual([])
})
