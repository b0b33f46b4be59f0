/** Main-thread cost of streaming an answer, against writing its text plainly once per frame. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { median, rounded } from './measure.ts'
import { composerOf, openCounted, spentOn, type Spent } from './page-chromium.ts'

const TOKENS = 4000
/** A long answer at the model's pace, and one that arrives nearly at once. */
const STEADY_TPS = 200
const BURST_TPS = 2000

/** Polls seldom and cheaply until the answer is stored, so that polling costs the page nothing. */
const answered = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        // Cached: it follows all messages, so the look-up would cost more with each of them.
        const box = document.querySelector('textarea')
        const timer = setInterval(() => {
          if (box?.disabled !== false) return
          clearInterval(timer)
          resolve()
        }, 250)
      }),
  )

/** Counts from the stored question to the stored answer. */
async function throughAlcove(page: Page, tokensPerSecond: number): Promise<Spent> {
  await composerOf(page).fill(`${randomUUID()} [[stub ttft=600 tokens=${TOKENS} tps=${tokensPerSecond} content=maths]]`)
  await composerOf(page).press('Control+Enter')
  await page.getByPlaceholder('Waiting for AI response...').waitFor()
  await delay(300)
  return spentOn(page, () => answered(page))
}

/** An empty page except for one element whose text React sets. */
const PLAIN_PAGE = `
  import { createElement } from 'react'
  import { createRoot } from 'react-dom/client'
  const root = createRoot(document.body.appendChild(document.createElement('div')))
  window.writers = {
    plain: (text) => root.render(createElement('pre', null, text)),
    bare: (text) => (document.querySelector('#bare') ?? document.body.appendChild(Object.assign(document.createElement('pre'), { id: 'bare' }))).textContent = text,
  }`

async function openPlain(browser: Browser, url: string): Promise<Page> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'plain',
        resolveId: (id) => (id === 'plain' ? id : null),
        load: (id) => (id === 'plain' ? PLAIN_PAGE : null),
      },
    ],
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { write: false, rolldownOptions: { input: 'plain' }, modulePreload: { polyfill: false } },
  })
  const [chunk] = [built].flat().flatMap((result) => ('output' in result ? result.output : []))
  if (chunk?.type !== 'chunk') throw new Error('the plain page was not built')
  const page = await openCounted(browser)
  await page.goto(`${url}/healthz`)
  await page.addScriptTag({ content: chunk.code, type: 'module' })
  return page
}

type Writer = 'plain' | 'bare'

declare global {
  interface Window {
    writers?: Record<Writer, (text: string) => void>
  }
}

/** Writes equal text in equal steps at each frame. */
const written = (page: Page, writer: Writer, text: string, tokensPerSecond: number): Promise<Spent> =>
  spentOn(page, () =>
    page.evaluate(
      ({ writer, text, tokens, tokensPerSecond }) =>
        new Promise<void>((resolve) => {
          const write = window.writers?.[writer]
          const pieces = text.match(/\s*\S{1,4}|\s+/g) ?? []
          const startedAt = performance.now()
          let [arrived, shown, sofar] = [0, 0, '']
          const receive = (): void => {
            const due = Math.min(tokens, ((performance.now() - startedAt) * tokensPerSecond) / 1000)
            for (; arrived < due; arrived += 1) sofar += pieces[arrived] ?? ''
            if (arrived < tokens) setTimeout(receive, 1000 / tokensPerSecond)
          }
          const draw = (): void => {
            if (shown !== arrived) write?.(sofar)
            shown = arrived
            if (shown < tokens) requestAnimationFrame(draw)
            else resolve()
          }
          receive()
          draw()
        }),
      { writer, text, tokens: TOKENS, tokensPerSecond },
    ),
  )

const sums = (runs: readonly Spent[]) => ({
  scriptMs: median(runs.map(({ scriptMs }) => scriptMs)),
  longTasks: median(runs.map(({ longTasksMs }) => longTasksMs.length)),
  longestMs: Math.max(0, ...runs.flatMap(({ longTasksMs }) => longTasksMs)),
})

/** @param page signed in, with the stub model chosen */
export async function measureStreaming(browser: Browser, page: Page, url: string, text: string, times: number) {
  const plain = await openPlain(browser, url)
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await page.locator('article').first().waitFor({ state: 'detached' })
  // A warm-up loads grammars, fonts and the typesetter, and compiles the code.
  await throughAlcove(page, BURST_TPS)
  const measured = {
    steady: [] as Spent[],
    burst: [] as Spent[],
    plain: [] as Spent[],
    plainBurst: [] as Spent[],
    bare: [] as Spent[],
  }
  for (let run = 0; run < times; run += 1) {
    measured.steady.push(await throughAlcove(page, STEADY_TPS))
    measured.plain.push(await written(plain, 'plain', text, STEADY_TPS))
    measured.bare.push(await written(plain, 'bare', text, STEADY_TPS))
    measured.burst.push(await throughAlcove(page, BURST_TPS))
    measured.plainBurst.push(await written(plain, 'plain', text, BURST_TPS))
  }
  await plain.close()
  const [steady, steadyPlain] = [sums(measured.steady), sums(measured.plain)]
  const [burst, burstPlain] = [sums(measured.burst), sums(measured.plainBurst)]
  return {
    streamScriptMs: rounded(steady.scriptMs, 0),
    plainScriptMs: rounded(steadyPlain.scriptMs, 0),
    streamRatio: rounded(steady.scriptMs / steadyPlain.scriptMs),
    streamRatioGoal: 1.15,
    /** Without React: the lower bound for a page of components. */
    bareScriptMs: rounded(sums(measured.bare).scriptMs, 0),
    streamLongTasks: steady.longTasks,
    plainLongTasks: steadyPlain.longTasks,
    streamLongestTaskMs: rounded(steady.longestMs, 0),
    burstScriptMs: rounded(burst.scriptMs, 0),
    burstGoalMs: 60,
    plainBurstScriptMs: rounded(burstPlain.scriptMs, 0),
    burstLongTasks: burst.longTasks,
    plainBurstLongTasks: burstPlain.longTasks,
  }
}
