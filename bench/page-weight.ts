/** Download size of a first visit, and time until the page is usable. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { median, rounded } from './measure.ts'
import { openCounted, signIn } from './page-chromium.ts'

const ASSETS = fileURLToPath(new URL('../dist/web/assets/', import.meta.url))

/** Kilobytes of script, compressed as the server sends them (brotli), that a page requested up to a moment. */
async function scriptKb(page: Page, untilMs = Infinity): Promise<number> {
  const names = await page.evaluate(
    (until) =>
      performance
        .getEntriesByType('resource')
        .filter(({ startTime }) => startTime <= until)
        .map(({ name }) => new URL(name).pathname)
        .filter((name) => name.startsWith('/assets/') && name.endsWith('.js')),
    untilMs,
  )
  const sizes = await Promise.all(
    [...new Set(names)].map(async (name) => (await stat(path.join(ASSETS, `${path.basename(name)}.br`))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}

const firstPaint = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) =>
        new PerformanceObserver((list, observer) => {
          const paint = list.getEntriesByName('first-contentful-paint')[0]
          if (paint === undefined) return
          observer.disconnect()
          resolve(paint.startTime)
        }).observe({ type: 'paint', buffered: true }),
      ),
  )

/** Milliseconds from the visit until the message box accepts text. */
const composerUsable = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          const box = document.querySelector('textarea')
          if (box !== null && !box.disabled) resolve(performance.now())
          else requestAnimationFrame(look)
        }
        look()
      }),
  )

/** Visits the sign-in page, signs in, and visits the chat page repeatedly. The page stays signed in. */
export async function measureVisits(browser: Browser, url: string, chatId: string, times: number) {
  const page = await openCounted(browser)
  await page.goto(`${url}/login`)
  await page.getByText('Use test account').waitFor()
  const signInPaint = await firstPaint(page)
  // Toasts load after the page.
  const signInKb = await scriptKb(page, signInPaint)
  await signIn(page)
  const [paints, usable, bare]: number[][] = [[], [], []]
  let chatKb = 0
  for (let run = 0; run < times; run += 1) {
    await page.goto(`${url}/healthz`)
    bare?.push(await firstPaint(page))
    await page.goto(`${url}/?chat=${chatId}`)
    paints?.push(await firstPaint(page))
    usable?.push(await composerUsable(page))
    chatKb = await scriptKb(page)
  }
  return {
    page,
    figures: {
      signInScriptKb: rounded(signInKb, 1),
      signInScriptGoalKb: 90,
      chatScriptKb: rounded(chatKb, 1),
      chatScriptGoalKb: 250,
      signInFirstPaintMs: rounded(signInPaint, 0),
      chatFirstPaintMs: rounded(median(paints ?? []), 0),
      bareFirstPaintMs: rounded(median(bare ?? []), 0),
      composerUsableMs: rounded(median(usable ?? []), 0),
    },
  }
}
