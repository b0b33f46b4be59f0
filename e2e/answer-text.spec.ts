/** Rendering of an answer's Markdown: code, tables, links, formulas; none of it violates the content policy. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectToFolder, fillConversation } from '#test/fill-conversation.ts'
import { openPage, signInWithTestAccount, type WatchedPage } from './browser.ts'
import { composerOf, openStage, type Stage } from './stage.ts'

const ANSWER = String.raw`Euler wrote $e^{i\pi} + 1 = 0$, and it costs $5 and $10. Wrong: $\frac{a$.

$$
\int_0^1 x^2 \, dx = \frac{1}{3}
$$

~~~ts
const lamp: string = 'on' // ${'a long line '.repeat(30)}
export const oil = 3
~~~

~~~mermaid
graph TD; A-->B
~~~

| Hour | Oil |
| --- | ---: |
| nine | 3 |
| ten${'_and_more'.repeat(30)} | 2 |

See [the page](https://example.test/a), and again $e^{i\pi} + 1 = 0$.`.replaceAll('~~~', '```')

let stage: Stage
let opened: WatchedPage
let page: Page

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
  const chat = await fillConversation(stage.dataDir, { title: 'Marks', model: 'openai-compatible/stub-gpt' }, [
    { sender_role: 1, content: 'Show me what https://example.test says' },
    { sender_role: 2, content: ANSWER },
  ])
  opened = await openPage(stage.browser, stage.alcove.url)
  page = opened.page
  await signInWithTestAccount(page)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.alcove.url })
  await page.goto(`${stage.alcove.url}/?chat=${chat}`)
  await answer().waitFor()
})
afterAll(() => stage.close())

const answer = () => page.getByRole('article', { name: 'Answer' }).last()
const code = (name: string) => answer().getByRole('figure', { name })
const clipboard = () => page.evaluate(() => navigator.clipboard.readText())

test('code is coloured by its language, with classes only', async () => {
  const block = code('Code, ts')
  await block.locator('pre span').first().waitFor()
  const colours = await block
    .locator('pre span')
    .evaluateAll((parts) => new Set(parts.map((part) => getComputedStyle(part).color)).size)
  expect(colours).toBeGreaterThan(2)
  expect(await block.locator('[style]').count()).toBe(0)
  expect(await block.locator('figcaption').innerText()).toContain('ts')
})

test('a long line scrolls inside its block, or is wrapped', async () => {
  const lines = code('Code, ts').locator('pre')
  const overflows = () => lines.evaluate((element) => element.scrollWidth > element.clientWidth)
  expect(await overflows()).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  const wrap = code('Code, ts').getByRole('button', { name: 'Wrap lines' })
  await wrap.click()
  expect(await wrap.getAttribute('aria-pressed')).toBe('true')
  expect(await overflows()).toBe(false)
})

test('code and tables are copied as they are', async () => {
  await code('Code, ts').getByRole('button', { name: 'Copy code' }).click()
  await expect.poll(clipboard).toMatch(/^const lamp: string = 'on' .*\nexport const oil = 3$/)
  await answer().getByRole('button', { name: 'Copy table' }).click()
  await expect.poll(clipboard).toMatch(/^Hour\tOil\nnine\t3\nten/)
})

test('a wide table scrolls inside its own box', async () => {
  const table = answer().getByRole('region', { name: 'Table' })
  expect(await table.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true)
})

test('a diagram is shown as its source', async () => {
  expect(await code('Code, mermaid').locator('pre').innerText()).toBe('graph TD; A-->B')
})

test('a link opens elsewhere and tells nothing of where it was', async () => {
  const link = answer().getByRole('link', { name: 'the page' })
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
  expect(await link.getAttribute('target')).toBe('_blank')
})

test('formulas are set, sums of money are text, and what cannot be set shows its source', async () => {
  await expect.poll(() => answer().locator('.katex').count()).toBe(3)
  const first = answer().getByText('Euler wrote')
  expect(await first.innerText()).toContain('and it costs $5 and $10. Wrong: $\\frac{a$.')
  expect(await answer().locator('math').count()).toBe(3)
})

test('a formula that comes again is set as it was', async () => {
  const euler = answer().locator('[data-formula="e^{i\\\\pi} + 1 = 0"]')
  const shapes = await euler.evaluateAll((formulas) =>
    formulas.map((formula) =>
      [...formula.querySelectorAll('.katex-html *')].map((part) => {
        const { width, height } = part.getBoundingClientRect()
        return [part.className, width.toFixed(1), height.toFixed(1)].join(' ')
      }),
    ),
  )
  expect(shapes).toHaveLength(2)
  expect(shapes[0]?.length).toBeGreaterThan(10)
  expect(shapes[1]).toEqual(shapes[0])
})

test('code that becomes another is shown and coloured as what it is now', async () => {
  const lines = code('Code, ts').locator('pre')
  await lines.locator('span', { hasText: 'const' }).first().waitFor()
  const client = await connectToFolder(stage.dataDir)
  await client.query(`update messages set content = replace(content, 'const lamp', 'let wick') where sender_role = 2`)
  await client.end()
  await expect.poll(() => lines.innerText()).toMatch(/^let wick: string = 'on' .*\nexport const oil = 3$/)
  await lines.locator('span', { hasText: 'let' }).first().waitFor()
  expect(await lines.innerText()).toMatch(/^let wick: string = 'on' .*\nexport const oil = 3$/)
})

test('a formula that is being written is its source until it ends', async () => {
  await composerOf(page).fill('Go on [[stub tokens=420 tps=400 hold=40 content=maths]]')
  await composerOf(page).press('Control+Enter')
  await page.getByPlaceholder('Waiting for AI response...').waitFor()
  await stage.stub.release()
  await page.getByPlaceholder('Ask anything... (Try typing @ for tools)').waitFor()
  await expect.poll(() => answer().locator('.katex').count()).toBeGreaterThan(1)
  expect(await answer().innerText()).toContain('about $1 and not $10')
})

test('nothing of all that broke the content policy, threw, or called another host', () => {
  expect(opened.faults).toEqual([])
})
