import { type Browser, chromium, type Page } from 'playwright-core'

export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  })

declare global {
  interface Window {
    longTasks?: number[]
  }
}

/** Counts the page's tasks over 50 ms. */
export async function openCounted(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'dark' })
  const page = await context.newPage()
  await page.addInitScript(() => {
    const longTasks: number[] = []
    window.longTasks = longTasks
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
      buffered: true,
    })
  })
  return page
}

export async function signIn(page: Page): Promise<void> {
  await page.getByText('Use test account').click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await composerOf(page).or(page.getByText('Getting Started')).first().waitFor()
}

export const composerOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })

export interface Spent {
  /** Processor time of the main thread in scripts. */
  readonly scriptMs: number
  /** Wall-clock time of each task over 50 ms. */
  readonly longTasksMs: readonly number[]
}

/** Processor time and long tasks that an action causes. */
export async function spentOn(page: Page, act: () => Promise<unknown>): Promise<Spent> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const scriptSeconds = async (): Promise<number> =>
    (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? NaN
  await page.evaluate(() => window.longTasks?.splice(0))
  const before = await scriptSeconds()
  await act()
  const scriptMs = ((await scriptSeconds()) - before) * 1000
  const longTasksMs = (await page.evaluate(() => window.longTasks)) ?? []
  await session.detach()
  return { scriptMs, longTasksMs }
}
