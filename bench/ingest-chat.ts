/**
 * Latency of a chat while many long documents are parsed, against the idle server before and after. Conversations are
 * equally long and no document answers the question, so the difference is the parsing. `ingest-chat [documents]
 * [pages] [questions]`
 */
import { setTimeout as delay } from 'node:timers/promises'
import { startStubModel } from '#test/stub-model.ts'
import { type FirstText, watchFirstText } from './first-text.ts'
import { makeLongPdf } from './long-pdf.ts'
import { median, quantile, rounded } from './measure.ts'
import { startSignedIn } from './signed-in.ts'
import { type MadeFile, watchLibrary } from './watched-library.ts'

const PAUSE_MS = 100
/** A longer conversation takes longer to read. */
const QUESTIONS_OF_CONVERSATION = 20

/** Time for the background work that follows parsing. */
const SETTLE_MS = 5_000

async function askUntil(chat: FirstText, isEnough: (asked: number) => boolean): Promise<number[]> {
  const times: number[] = []
  while (!isEnough(times.length)) {
    if (times.length % QUESTIONS_OF_CONVERSATION === 0) {
      await chat.startOver()
      // The first question of a conversation also creates its title.
      await chat.ask()
    }
    times.push(await chat.ask())
    await delay(PAUSE_MS)
  }
  return times
}

/** Names without a word or number of the question, and without similar words. */
const nameOf = (index: number): string =>
  `report${String.fromCharCode(97 + (index % 26)).repeat(3 + Math.floor(index / 26))}.pdf`

export async function run([documents = '50', pages = '100', questions = '60']: string[]): Promise<
  Record<string, unknown>
> {
  const files = Array.from({ length: Number(documents) }, (_, index) => ({
    name: nameOf(index),
    bytes: makeLongPdf(Number(pages), (index + 1) * 100_000),
  }))
  return askWhileReading(files, { perRequest: files.length, questions: Number(questions) })
}

/** First texts while these files are uploaded and read, and on the idle server before and after. */
export async function askWhileReading(
  files: readonly MadeFile[],
  { perRequest, questions }: { readonly perRequest: number; readonly questions: number },
): Promise<Record<string, unknown>> {
  const stub = await startStubModel({ models: 'stub' })
  // The question finds nothing, and a second request to the model is not what is measured.
  const session = await startSignedIn({ OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl, OTHER_WORDS: 'false' })
  const chat = await watchFirstText(session)
  let [changedAt, longestGapMs] = [0, 0]
  const library = await watchLibrary(session, await session.open(), () => {
    const now = performance.now()
    longestGapMs = Math.max(longestGapMs, now - changedAt)
    changedAt = now
  })
  await askUntil(chat, (asked) => asked === 5)
  const askIdly = () => askUntil(chat, (asked) => asked === questions)
  const idle = await askIdly()

  const startedAt = performance.now()
  changedAt = startedAt
  let isOver = false
  const reading = library
    .uploadAll(files, perRequest)
    .then((uploaded) => Promise.all(uploaded.map(({ id }) => library.ended(id))))
    .finally(() => (isOver = true))
  const meanwhile = await askUntil(chat, () => isOver)
  const rows = await reading
  const seconds = (performance.now() - startedAt) / 1000
  await delay(SETTLE_MS)
  const afterwards = await askIdly()
  await session.close()
  await stub.stop()
  return {
    documents: rows.length,
    pages: rows.reduce((sum, row) => sum + (row.pages ?? 0), 0),
    failed: rows.filter(({ state }) => state !== 'ready').length,
    seconds: rounded(seconds, 0),
    longestTimeWithoutProgressMs: rounded(longestGapMs, 0),
    questions: meanwhile.length,
    idleP50Ms: rounded(median(idle)),
    idleP95Ms: rounded(quantile(idle, 0.95)),
    afterwardsP50Ms: rounded(median(afterwards)),
    afterwardsP95Ms: rounded(quantile(afterwards, 0.95)),
    p50Ms: rounded(median(meanwhile)),
    p95Ms: rounded(quantile(meanwhile, 0.95)),
    p50Ratio: rounded(median(meanwhile) / median(idle)),
    p95Ratio: rounded(quantile(meanwhile, 0.95) / quantile(idle, 0.95)),
    // Afterwards all files are searched, meanwhile those that were read so far: a lower bound of what the reading costs.
    p50RatioToAfterwards: rounded(median(meanwhile) / median(afterwards)),
    p95RatioToAfterwards: rounded(quantile(meanwhile, 0.95) / quantile(afterwards, 0.95)),
  }
}
