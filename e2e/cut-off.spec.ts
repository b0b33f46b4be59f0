/** After an interruption of moments or minutes, a page shows the same as a fresh one (section 4.3). */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CuttingProxy } from '#test/cutting-proxy.ts'
import { openShakyPage, openStage, type Stage, storeConversation } from './stage.ts'

let stage: Stage
let proxy: CuttingProxy
let fresh: Page
let shaky: Page
let round = 0

beforeAll(async () => {
  stage = await openStage()
  ;({ page: shaky, proxy } = await openShakyPage(stage))
  fresh = stage.page
})
afterAll(async () => {
  await proxy.close()
  await stage.close()
})

/** The list of conversations and the open one, as text. */
const shown = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('section[aria-label] li, [role=feed] article, main h1, main h2')].map((element) =>
      element.textContent.replaceAll(/\s+/g, ' '),
    ),
  )

const write = (method: 'PATCH' | 'DELETE', id: string, patch?: Record<string, unknown>): Promise<number> =>
  fresh.evaluate(
    async ([verb, address, body]) =>
      (await fetch(address, { method: verb, headers: { 'content-type': 'application/json' }, body })).status,
    [method, `/api/conversations/${id}`, patch === undefined ? null : JSON.stringify(patch)] as const,
  )

interface Conversations {
  readonly open: string
  readonly renamed: string
  readonly deleted: string
}
let conversations: Conversations

beforeEach(async () => {
  round += 1
  const titled = (title: string) => storeConversation(stage, `${title} ${round}`, [`Said in ${title} ${round}`])
  conversations = {
    open: (await titled('Open')).id,
    renamed: (await titled('Renamed')).id,
    deleted: (await titled('Deleted')).id,
  }
  await shaky.goto(`${proxy.url}/?chat=${conversations.open}`)
  await shaky.getByText(`Said in Open ${round}`).waitFor()
})

/** Changes some of everything that a page follows. */
async function changeMuch(): Promise<void> {
  const { open, renamed, deleted } = conversations
  const answer = (n: number) => ({ conversation_id: open, content: `Missed ${n} of ${round}`, sender_role: 2 })
  await stage.insert('messages', [answer(1)])
  expect(await write('PATCH', open, { title: `Open anew ${round}` })).toBe(200)
  expect(await write('PATCH', renamed, { title: `Renamed and pinned ${round}`, pinned: true })).toBe(200)
  expect(await write('DELETE', deleted)).toBeLessThan(300)
  await stage.insert('messages', [answer(2), answer(3)])
  await storeConversation(stage, `Added ${round}`, ['new'])
}

async function showsTheSameAsAFreshOne(): Promise<void> {
  await fresh.goto(`${stage.alcove.url}/?chat=${conversations.open}`)
  await fresh.getByText(`Missed 3 of ${round}`).waitFor()
  await fresh
    .getByRole('listitem')
    .filter({ hasText: `Added ${round}` })
    .waitFor()
  const wanted = await shown(fresh)
  expect(wanted.join('\n')).toContain(`Open anew ${round}`)
  expect(wanted.join('\n')).toContain(`Renamed and pinned ${round}`)
  expect(wanted.join('\n')).not.toContain(`Deleted ${round}`)
  // Both are read again each time, since what the fresh page says may also change, such as the age of a conversation.
  const difference = async (): Promise<string> => {
    const [pages, expected] = await Promise.all([shown(shaky), shown(fresh)])
    return isDeepStrictEqual(pages, expected) ? '' : [...pages, '--- but the fresh page shows', ...expected].join('\n')
  }
  await expect.poll(difference, { timeout: 60_000 }).toBe('')
}

test('for a tenth of a second, again and again while rows change', async () => {
  const changing = changeMuch()
  for (let cut = 0; cut < 4; cut += 1) {
    proxy.refuse(true)
    proxy.cut()
    await delay(100)
    proxy.refuse(false)
    await delay(Math.random() * 400)
  }
  await changing
  await showsTheSameAsAFreshOne()
})

test('for some seconds', async () => {
  proxy.refuse(true)
  proxy.cut()
  await changeMuch()
  await delay(3000)
  proxy.refuse(false)
  await showsTheSameAsAFreshOne()
})

/**
 * The server stores no socket state, so minutes of sleep affect the page only: its timers are late, and its socket
 * looks open although the server has closed it.
 */
test('for ten minutes of sleep, after which its socket only seems to be there', async () => {
  await shaky.clock.install()
  await shaky.reload()
  await shaky.getByText(`Said in Open ${round}`).waitFor()
  await stage.insert('messages', [{ conversation_id: conversations.open, content: `Live ${round}`, sender_role: 2 }])
  await shaky.getByText(`Live ${round}`).waitFor()
  proxy.abandon()
  await changeMuch()
  await shaky.clock.fastForward('10:00')
  // The first heartbeat after waking gets no answer; the second one detects that.
  await shaky.clock.fastForward('00:40')
  await showsTheSameAsAFreshOne()
})

test('and leaves a conversation that was deleted meanwhile', async () => {
  proxy.refuse(true)
  proxy.cut()
  expect(await write('DELETE', conversations.open)).toBeLessThan(300)
  proxy.refuse(false)
  await expect.poll(() => new URL(shaky.url()).search, { timeout: 60_000 }).toBe('')
  // The list loads in parallel with the conversation and may arrive later.
  await expect.poll(async () => (await shown(shaky)).join('\n')).not.toContain(`Open ${round}`)
})
