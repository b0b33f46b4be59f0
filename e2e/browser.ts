/** Opens Chromium pages that record faults. */
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'

/** @param extra further switches of Chromium. */
export const openBrowser = (extra: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', ...extra,
    ], // prettier-ignore
  })

export interface WatchedPage {
  readonly page: Page
  /** Uncaught errors, violations of the Content-Security-Policy and requests to other hosts. */
  readonly faults: readonly string[]
}

/** Pages of this test file that are open. */
export const openPages = new Set<Page>()

export async function openPage(
  browser: Browser,
  url: string,
  viewport = { width: 1440, height: 900 },
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport, colorScheme: 'dark', timezoneId: 'UTC', locale: 'en-US' })
  // Other browsers and servers may keep both processors busy.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  openPages.add(page)
  page.on('close', () => openPages.delete(page))
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text())
  })
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol.startsWith('http') && host !== new URL(url).host) faults.push(`request to ${host}`)
  })
  await page.goto(url)
  return { page, faults }
}

/** Uncaught errors and errors in the console, as they come. */
export function collectErrors(page: Page): readonly string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return errors
}

export async function signInWithTestAccount(page: Page): Promise<void> {
  await page.getByText('Use test account').click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Chat History').waitFor()
}

export async function ask(page: Page, question: string): Promise<void> {
  const composer = page.getByPlaceholder('Ask anything... (Try typing @ for tools)')
  await composer.fill(question)
  await composer.press('Control+Enter')
}

/** Scrolls what scrolls the element to a share of its height, 1 being the end. */
export const scrollWithin = (within: Locator, share: number): Promise<void> =>
  within.first().evaluate((element, to) => {
    let scroller = element.parentElement
    while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowY)) scroller = scroller.parentElement
    if (scroller) scroller.scrollTop = to * scroller.scrollHeight
  }, share)

/** The text that the document viewer highlights; empty where nothing is highlighted. */
export const markedText = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const marks = CSS.highlights.get('source-passage')
    return marks ? [...marks].map((range) => (range instanceof Range ? range.toString() : '')).join('') : ''
  })
