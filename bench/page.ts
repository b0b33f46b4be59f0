/**
 * The page in a real Chromium: weight, first paint, and cost of long conversations. `npm run bench -- page [times]
 * [part …]`, with the parts `visits`, `thread` and `streaming`; by default all.
 */
import { startStubModel } from '#test/stub-model.ts'
import { openChromium } from './page-chromium.ts'
import { measureStreaming } from './page-streaming.ts'
import { measureThread } from './page-thread.ts'
import { measureVisits } from './page-weight.ts'
import { startSignedIn } from './signed-in.ts'

export async function run([times = '3', ...parts]: string[]): Promise<Record<string, unknown>> {
  const isWanted = (part: string): boolean => parts.length === 0 || parts.includes(part)
  const stub = await startStubModel({ models: 'stub' })
  const session = await startSignedIn({ OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl })
  const browser = await openChromium()
  const chatId = await session.startConversation(await session.open(), 'openai-compatible/stub')
  const { page, figures } = await measureVisits(
    browser,
    session.alcove.url,
    chatId,
    isWanted('visits') ? Number(times) : 1,
  )
  const thread = isWanted('thread') ? await measureThread(page, session.dataDir, Number(times)) : {}
  const streaming = isWanted('streaming')
    ? await measureStreaming(browser, page, session.alcove.url, await stub.text(4000, 'maths'), Number(times))
    : {}
  await browser.close()
  await session.close()
  await stub.stop()
  return { ...figures, ...thread, ...streaming }
}
