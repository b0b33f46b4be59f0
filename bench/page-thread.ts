/** A conversation of 10,000 messages against one of 100: opening time, layout shifts, and delays of scrolling. */
import type { Page } from 'playwright-core'
import { fillConversation, type FilledMessage } from '#test/fill-conversation.ts'
import { inTurn, median, rounded } from './measure.ts'
import { spentOn } from './page-chromium.ts'

/** The conversations use the stub model, so that the next new chat does too. */
const MODEL = 'openai-compatible/stub'

const ANSWER = `The lamp was **trimmed** at dusk, as the \`ledger\` says. Three things follow:

- the wick lasts until midnight,
- the warden is called *once*,
- nothing else is written down.

| Hour | Oil |
| --- | ---: |
| nine | 3 |
| ten | 2 |

After that the room is dark, and whoever reads must bring a light of their own.`

const conversation = (messages: number): FilledMessage[] =>
  Array.from({ length: messages }, (_, index) =>
    index % 2 === 0
      ? { sender_role: 1, content: `Question ${index}: how long does the lamp burn?` }
      : { sender_role: 2, content: `Answer ${index}. ${ANSWER}` },
  )

/** Milliseconds from a click on a conversation until its newest message is painted. */
async function open(page: Page, title: string, last: string): Promise<number> {
  const entry = page.getByRole('listitem').filter({ hasText: title }).getByRole('button').first()
  await entry.waitFor()
  return entry.evaluate(
    (button, wanted) =>
      new Promise<number>((resolve) => {
        const startedAt = performance.now()
        const look = (): void => {
          const newest = [...document.querySelectorAll('article')].at(-1)
          if (newest?.textContent.includes(wanted) === true) resolve(performance.now() - startedAt)
          else requestAnimationFrame(look)
        }
        if (button instanceof HTMLElement) button.click()
        requestAnimationFrame(look)
      }),
    last,
  )
}

/**
 * Scrolls up in large steps; returns the largest layout shift in view, in pixels, and the number of loaded messages.
 */
const pixelsMoved = (page: Page, steps: number): Promise<{ movedPx: number; loaded: number }> =>
  page.evaluate(async (count) => {
    const feed = document.querySelector('[role=feed]')
    let view = feed?.parentElement ?? null
    while (view !== null && getComputedStyle(view).overflowY !== 'auto') view = view.parentElement
    if (view === null || feed === null) throw new Error('there is no thread')
    const frame = (): Promise<number> => new Promise(requestAnimationFrame)
    const before = feed.querySelectorAll('article').length
    const edge = view.getBoundingClientRect().top
    let movedPx = 0
    for (let step = 0; step < count; step += 1) {
      view.scrollTop -= view.clientHeight
      await frame()
      const watched = [...feed.querySelectorAll('article')].find(
        (article) => article.getBoundingClientRect().bottom > edge + 40,
      )
      const top = watched?.getBoundingClientRect().top ?? NaN
      for (let frames = 0; frames < 20; frames += 1) {
        await frame()
        movedPx = Math.max(movedPx, Math.abs((watched?.getBoundingClientRect().top ?? NaN) - top))
      }
    }
    return { movedPx, loaded: feed.querySelectorAll('article').length - before }
  }, steps)

async function wheelUp(page: Page, turns: number): Promise<void> {
  await page.mouse.move(700, 400)
  for (let turn = 0; turn < turns; turn += 1) {
    await page.mouse.wheel(0, -400)
    await page.waitForTimeout(30)
  }
}

export async function measureThread(page: Page, dataDir: string, times: number) {
  for (let run = 0; run < times; run += 1) {
    await fillConversation(dataDir, { title: `Long ${run}.`, model: MODEL }, conversation(10_000))
    await fillConversation(dataDir, { title: `Short ${run}.`, model: MODEL }, conversation(100))
  }
  await fillConversation(dataDir, { title: 'Warm.', model: MODEL }, conversation(100))
  await page.reload()
  await open(page, 'Warm.', 'Answer 99.')
  let [long, short] = [0, 0]
  const opened = await inTurn(
    times,
    () => open(page, `Long ${long++}.`, 'Answer 9999.'),
    () => open(page, `Short ${short++}.`, 'Answer 99.'),
  )
  await open(page, 'Long 0.', 'Answer 9999.')
  const { movedPx, loaded } = await pixelsMoved(page, 25)
  const { longTasksMs } = await spentOn(page, () => wheelUp(page, 300))
  return {
    open10000Ms: rounded(median(opened.ours), 0),
    open100Ms: rounded(median(opened.baseline), 0),
    openRatio: rounded(median(opened.ours) / median(opened.baseline)),
    openRatioGoal: 1.3,
    prependedMessages: loaded,
    movedPx: rounded(movedPx, 1),
    scrollLongTasks: longTasksMs.length,
    scrollLongestTaskMs: rounded(Math.max(0, ...longTasksMs), 0),
  }
}
