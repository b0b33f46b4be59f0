/** The page of a person with thousands of conversations and documents, against one with ten of each. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { connectToFolder } from '#test/fill-conversation.ts'
import { codeOf, fillLists } from './growth-rows.ts'
import { inTurn, median, quantile, rounded } from './measure.ts'
import { openChromium, openCounted, spentOn } from './page-chromium.ts'
import { type SignedIn, startSignedIn } from './signed-in.ts'

const FEW = 10
const VISITS = 3
const KEYSTROKES = 30
/** Time for reads that follow the first ones. */
const SETTLE_MS = 1_000
/** With thousands of rows a click may wait for long tasks. */
const TIMEOUT_MS = 180_000

const HISTORY_ROWS = 'section[aria-label="Chat history"] li'
const LIBRARY_ROWS = 'section[aria-label="Library"] li'

interface Account {
  readonly email: string
  readonly password: string
  readonly rows: number
}

declare global {
  interface Window {
    /** Milliseconds from the next event until something is shown and painted. */
    paintedAfter?: (event: 'click' | 'keydown', isShown: () => boolean) => Promise<number>
    /** Whether each list has rows, and its first ones all contain a text. */
    showOnly?: (lists: readonly string[], text: string) => boolean
  }
}

async function openAccount(session: SignedIn, rows: number): Promise<Account> {
  const client = await session.open()
  const account = { email: `${randomUUID()}@example.test`, password: randomUUID(), rows }
  const { data, error } = await client.auth.signUp(account)
  if (error ?? !data.user) throw error ?? new Error('there is no account')
  const admin = await connectToFolder(session.dataDir)
  await fillLists(admin, data.user.id, rows)
  await admin.end()
  return account
}

/** A page with `paintedAfter` and `showOnly`. */
export async function openPage(browser: Browser): Promise<Page> {
  const page = await openCounted(browser)
  page.setDefaultTimeout(TIMEOUT_MS)
  await page.addInitScript((timeoutMs) => {
    window.paintedAfter = (event, isShown) =>
      new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error(`what a ${event} should show did not come`)), timeoutMs)
        const begin = ({ timeStamp }: Event): void => {
          const look = (): void => {
            // The frame in which it is found is painted before the next one begins.
            if (isShown()) requestAnimationFrame(() => resolve(performance.now() - timeStamp))
            else requestAnimationFrame(look)
          }
          requestAnimationFrame(look)
        }
        document.addEventListener(event, begin, { capture: true, once: true })
      })
    window.showOnly = (lists, text) =>
      lists.every((list) => {
        let row = document.querySelector(list)
        if (row === null) return false
        for (let count = 0; row !== null && count < 10; count += 1) {
          if (!row.textContent.toLowerCase().includes(text)) return false
          row = row.nextElementSibling
        }
        return true
      })
  }, TIMEOUT_MS)
  return page
}

/** Milliseconds from a click until each selector finds something. */
async function timeClick(page: Page, click: () => Promise<void>, selectors: readonly string[]): Promise<number> {
  const waiting = await page.evaluateHandle(
    (wanted) => ({
      shown: window.paintedAfter?.('click', () => wanted.every((one) => document.querySelector(one) !== null)),
    }),
    selectors,
  )
  await click()
  return (await waiting.evaluate(({ shown }) => shown)) ?? Number.NaN
}

/** Sums the bodies of lists that the page has requested, in bytes. */
function watchRows(page: Page): () => Promise<number> {
  const bodies: Promise<Buffer>[] = []
  page.on('response', (response) => {
    const isList = response.request().method() === 'GET' && /^\/(rest\/v1|api)\//.test(new URL(response.url()).pathname)
    if (isList && response.ok()) bodies.push(response.body())
  })
  return async () => (await Promise.all(bodies)).reduce((sum, { length }) => sum + length, 0)
}

const countNodes = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length)

async function signIn(page: Page, url: string, { email, password }: Account): Promise<number> {
  await page.goto(`${url}/login`)
  await page.getByPlaceholder('Enter your email').fill(email)
  await page.getByPlaceholder('Enter your password').fill(password)
  const button = page.getByRole('button', { name: 'Sign in', exact: true })
  return timeClick(page, () => button.click(), [HISTORY_ROWS, 'textarea:enabled'])
}

function openFiles(page: Page): Promise<number> {
  const tab = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Files', exact: true })
  return timeClick(page, () => tab.click(), [LIBRARY_ROWS])
}

async function visit(browser: Browser, url: string, account: Account) {
  const page = await openPage(browser)
  const rowBytes = watchRows(page)
  const usableMs = await signIn(page, url, account)
  const kbUntilThen = (await rowBytes()) / 1000
  const nodes = await countNodes(page)
  await delay(SETTLE_MS)
  const kbSoonAfter = (await rowBytes()) / 1000
  const filesMs = await openFiles(page)
  const filesNodes = await countNodes(page)
  await page.context().close()
  return { usableMs, kbUntilThen, kbSoonAfter, nodes, filesMs, filesNodes }
}

async function measureVisits(browser: Browser, url: string, many: Account, few: Account) {
  const visits = { many: [] as Awaited<ReturnType<typeof visit>>[], few: [] as Awaited<ReturnType<typeof visit>>[] }
  const visitOf = (account: Account, kind: 'many' | 'few') => async () => {
    const seen = await visit(browser, url, account)
    visits[kind].push(seen)
    return seen.usableMs
  }
  // The first visits of a server compile code and plans.
  await visit(browser, url, few)
  const usable = await inTurn(VISITS, visitOf(many, 'many'), visitOf(few, 'few'))
  const middle = (kind: 'many' | 'few', figure: keyof (typeof visits)['many'][number]) =>
    median(visits[kind].map((seen) => seen[figure]))
  return {
    usableMs: rounded(median(usable.ours), 0),
    usableMsOfFew: rounded(median(usable.baseline), 0),
    usableRatio: rounded(median(usable.ours) / median(usable.baseline)),
    usableRatioGoal: 1.3,
    rowKb: rounded(middle('many', 'kbUntilThen'), 0),
    rowKbGoal: 100,
    rowKbSoonAfter: rounded(middle('many', 'kbSoonAfter'), 0),
    rowKbOfFew: rounded(middle('few', 'kbUntilThen'), 0),
    nodes: middle('many', 'nodes'),
    nodesGoal: 3_000,
    nodesOfFew: middle('few', 'nodes'),
    filesMs: rounded(middle('many', 'filesMs'), 0),
    filesMsOfFew: rounded(middle('few', 'filesMs'), 0),
    filesRatio: rounded(middle('many', 'filesMs') / middle('few', 'filesMs')),
    filesNodes: middle('many', 'filesNodes'),
  }
}

interface SearchBox {
  readonly name: string
  readonly open: (page: Page) => Promise<unknown>
  readonly lists: readonly string[]
  readonly locate: (page: Page) => ReturnType<Page['locator']>
}

const SEARCH_BOXES: readonly SearchBox[] = [
  {
    name: 'history',
    open: (page) => page.locator(HISTORY_ROWS).first().waitFor(),
    lists: [HISTORY_ROWS],
    locate: (page) => page.getByRole('searchbox', { name: 'Search conversations' }),
  },
  {
    name: 'files',
    open: openFiles,
    lists: [LIBRARY_ROWS],
    locate: (page) => page.getByRole('region', { name: 'Library' }).getByPlaceholder('Filter by name'),
  },
  {
    name: 'palette',
    open: (page) => page.keyboard.press('Control+k'),
    lists: ['conversation', 'document'].map((kind) => `[role=option][data-value^="${kind}:"]`),
    locate: (page) => page.getByRole('dialog').getByRole('combobox'),
  },
]

/** Types a code; returns the time of each letter that the rows shown until then did not already contain. */
async function typeCode(page: Page, { lists }: SearchBox, code: string): Promise<number[]> {
  const times: number[] = []
  for (let length = 1; length <= code.length; length += 1) {
    const waiting = await page.evaluateHandle(
      ({ lists, text }) => {
        const isShown = () => window.showOnly?.(lists, text) === true
        return isShown() ? null : { shown: window.paintedAfter?.('keydown', isShown) }
      },
      { lists, text: code.slice(0, length) },
    )
    await page.keyboard.press(code.charAt(length - 1))
    const elapsed = await waiting.evaluate((found) => found?.shown)
    if (elapsed !== undefined) times.push(elapsed)
  }
  return times
}

async function measureSearchBox(page: Page, box: SearchBox, rows: number) {
  await box.open(page)
  const field = box.locate(page)
  const times: number[] = []
  const typing = await spentOn(page, async () => {
    for (let turn = 0; times.length < KEYSTROKES; turn += 1) {
      // Rows of any age, not only those that a page shows first.
      const code = codeOf(Math.floor(((turn * 7 + 5) / 10) * rows) % rows)
      await field.focus()
      times.push(...(await typeCode(page, box, code)))
      await field.fill('')
      await page.waitForFunction(({ lists, text }) => window.showOnly?.(lists, text) !== true, {
        lists: box.lists.slice(0, 1),
        text: code,
      })
    }
  })
  return {
    keystrokes: times.length,
    p50Ms: rounded(median(times), 0),
    p95Ms: rounded(quantile(times, 0.95), 0),
    longestTaskMs: rounded(Math.max(0, ...typing.longTasksMs), 0),
    tasksOver50Ms: typing.longTasksMs.length,
  }
}

async function measureSearchBoxes(browser: Browser, url: string, many: Account, few: Account) {
  const figures: Record<string, unknown> = { p95GoalMs: 100, longestTaskGoalMs: 50 }
  for (const box of SEARCH_BOXES) {
    for (const account of [many, few]) {
      const page = await openPage(browser)
      await signIn(page, url, account)
      await delay(SETTLE_MS)
      figures[account === many ? box.name : `${box.name}OfFew`] = await measureSearchBox(page, box, account.rows)
      await page.context().close()
    }
  }
  return figures
}

const withPeople =
  (measure: typeof measureVisits | typeof measureSearchBoxes) =>
  async (rows: number): Promise<Record<string, unknown>> => {
    const session = await startSignedIn({ AUTH_AUTOCONFIRM: 'true', RATE_LIMITS: 'off' })
    const browser = await openChromium()
    const [many, few] = [await openAccount(session, rows), await openAccount(session, FEW)]
    const figures = await measure(browser, session.alcove.url, many, few)
    await browser.close()
    await session.close()
    return { rows, ...figures }
  }

export const measurePage = withPeople(measureVisits)
export const measureSearches = withPeople(measureSearchBoxes)
