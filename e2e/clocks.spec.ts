/** Browsers whose clocks are wrong, or are set while the page is open: sessions go on, and tokens are renewed once at most. */
import { decodeJwt } from 'jose'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens } from '#server/access/tokens.ts'
import { signInWithTestAccount } from './browser.ts'
import { openStage, type Stage, startChat } from './stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const REFRESH = /token\?grant_type=refresh_token/

let stage: Stage

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
})
afterAll(() => stage.close())

/** Tabs of one browser whose clock is wrong by this time. */
async function openTabs(offsetMs: number): Promise<{ context: BrowserContext; refreshes: () => number }> {
  const context = await stage.browser.newContext({ timezoneId: 'UTC', locale: 'en-US' })
  context.setDefaultTimeout(60_000)
  await setClock(context, offsetMs)
  let refreshes = 0
  context.on('request', (request) => {
    if (REFRESH.test(request.url())) refreshes += 1
  })
  return { context, refreshes: () => refreshes }
}

/** Sets the clock of pages that are loaded from now on. */
const setClock = (context: BrowserContext, offsetMs: number) =>
  context.addInitScript((by) => {
    const RealDate = (globalThis as { RealDate?: DateConstructor }).RealDate ?? Date
    const clock = { RealDate, offsetMs: by }
    Object.assign(globalThis, clock, {
      Date: new Proxy(RealDate, {
        construct: (target, given: unknown[], wanted) =>
          Reflect.construct(target, given.length > 0 ? given : [Date.now()], wanted) as object,
        get: (target, name) =>
          name === 'now'
            ? () => RealDate.now() + (globalThis as unknown as typeof clock).offsetMs
            : (Reflect.get(target, name) as unknown),
      }),
    })
  }, offsetMs)

const jump = (page: Page, offsetMs: number) =>
  page.evaluate((to) => {
    Object.assign(globalThis, { offsetMs: to })
  }, offsetMs)

async function openTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(stage.alcove.url)
  return page
}

/** Asks, reloads and opens the files, which needs a session. */
async function work(page: Page): Promise<void> {
  await startChat(page, 'Begin [[stub tokens=5]]')
  await page.reload()
  await page.getByRole('button', { name: 'Good answer' }).waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files' }).click()
  await page.getByRole('region', { name: 'Files' }).waitFor()
}

const OFFSETS: [string, number][] = [
  ['24 hours behind', -DAY_MS],
  ['90 minutes behind', -90 * MINUTE_MS],
  ['59 minutes ahead', 59 * MINUTE_MS],
  ['90 minutes ahead', 90 * MINUTE_MS],
  ['24 hours ahead', DAY_MS],
]

test.for(OFFSETS)('a clock that is %s causes no refresh, and new chats are dated by the server', async ([, offset]) => {
  const { context, refreshes } = await openTabs(offset)
  const page = await openTab(context)
  let startedAt = ''
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes('/rest/v1/conversations'))
      startedAt = (request.postDataJSON() as { started_at: string }).started_at
  })
  await signInWithTestAccount(page)
  await work(page)
  const other = await openTab(context)
  await work(other)
  expect(refreshes()).toBe(0)
  expect(Math.abs(Date.parse(startedAt) - Date.now())).toBeLessThan(10 * MINUTE_MS)
  await context.close()
})

test.for(OFFSETS)('a clock that is set to %s while the page is open: one refresh at most', async ([, offset]) => {
  const { context, refreshes } = await openTabs(0)
  const tabs = [await openTab(context)]
  await signInWithTestAccount(tabs[0] as Page)
  tabs.push(await openTab(context))
  for (const tab of tabs) await tab.getByText('Chat History').waitFor()
  await setClock(context, offset)
  await Promise.all(tabs.map((tab) => jump(tab, offset)))
  for (const tab of tabs) await work(tab)
  expect(refreshes()).toBeLessThanOrEqual(1)
  await context.close()
})

test.for(OFFSETS)('a stored session that is opened with a clock %s: one refresh at most', async ([, offset]) => {
  const { context, refreshes } = await openTabs(0)
  const first = await openTab(context)
  await signInWithTestAccount(first)
  await first.close()
  await setClock(context, offset)
  const page = await openTab(context)
  await work(page)
  await work(await openTab(context))
  expect(refreshes()).toBeLessThanOrEqual(1)
  await context.close()
})

/** Lets the stored access token be one that has expired, while the page takes it for new. */
async function expireToken(page: Page): Promise<void> {
  const tokens = await createTokens(await loadSecretsFromFolder(stage.dataDir))
  const readToken = () =>
    page.evaluate(
      () => (JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as { access_token: string }).access_token,
    )
  const { iat = 0, exp = 0, ...claims } = decodeJwt(await readToken())
  const expired = await tokens.sign({ ...claims, iat: iat - 7200, exp: exp - 7200 })
  await page.evaluate((token) => {
    const session = JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as Record<string, unknown>
    const expiresAt = Math.floor(Date.now() / 1000) + 3600 - 120
    localStorage.setItem('alcove-session', JSON.stringify({ ...session, access_token: token, expires_at: expiresAt }))
  }, expired)
  expect(await readToken()).toBe(expired)
}

test.for([1, 2, 5])(
  'a token that the server takes for expired is renewed once by %s tabs, and requests go on',
  async (count) => {
    const { context, refreshes } = await openTabs(0)
    const first = await openTab(context)
    await signInWithTestAccount(first)
    await startChat(first, 'Begin [[stub tokens=5]]')
    await expireToken(first)
    const tabs = await Promise.all(Array.from({ length: count }, () => openTab(context)))
    await Promise.all(
      tabs.map((tab) => tab.getByRole('region', { name: 'Chat history' }).getByRole('listitem').first().waitFor()),
    )
    expect(refreshes()).toBe(1)
    await startChat(tabs[0] as Page, 'Begin [[stub tokens=5]]')
    expect(refreshes()).toBe(1)
    await context.close()
  },
)

test('a refresh that is refused for a while is repeated when the server says so, and nobody is signed out', async () => {
  const { context, refreshes } = await openTabs(0)
  const first = await openTab(context)
  await signInWithTestAccount(first)
  await startChat(first, 'Begin [[stub tokens=5]]')
  await first.close()
  let refusals = 3
  await context.route(REFRESH, (route) => {
    refusals -= 1
    if (refusals < 0) return route.continue()
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { code: 429, error_code: 'over_request_rate_limit', msg: 'Request rate limit reached' },
    })
  })
  await setClock(context, 2 * HOUR_MS)
  const page = await openTab(context)
  await page.getByRole('region', { name: 'Chat history' }).getByRole('listitem').first().waitFor()
  expect(refreshes()).toBe(4)
  await context.close()
})
