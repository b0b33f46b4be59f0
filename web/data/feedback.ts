import type { PostgrestError } from '@supabase/postgrest-js'
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { rest } from './client.ts'
import { createLiveQuery } from './live-query.ts'

export type Rating = -1 | 1
export type Feedback = { rating: Rating; reason: string | null }

/** A rating belongs to one version of an answer. */
export type RatedAnswer = { messageId: string; version: number }

const stored = z.array(
  z.object({
    message_id: z.uuid(),
    version: z.int(),
    rating: z.union([z.literal(-1), z.literal(1)]),
    reason: z.string().nullable(),
  }),
)

const feedbackKey = ({ messageId, version }: RatedAnswer) => ['message_feedback', messageId, version] as const
const liveFeedback = createLiveQuery<Feedback | null>()

/** Scrolling brings answers into view one by one; their ratings are fetched in batches. */
const BATCH_MS = 100

let lastBatchAt = Number.NEGATIVE_INFINITY
let pendingBatch: Promise<z.infer<typeof stored>> | null = null
const batchedIds = new Set<string>()

function fetchBatched(messageId: string): Promise<z.infer<typeof stored>> {
  batchedIds.add(messageId)
  const waitMs = Math.max(0, lastBatchAt + BATCH_MS - performance.now())
  pendingBatch ??= new Promise((resolve) => setTimeout(resolve, waitMs)).then(async () => {
    lastBatchAt = performance.now()
    const ids = [...batchedIds]
    batchedIds.clear()
    pendingBatch = null
    const { data, error } = await rest()
      .from('message_feedback')
      .select('message_id,version,rating,reason')
      .in('message_id', ids)
    if (error !== null) throw new Error(error.message, { cause: error })
    return stored.parse(data)
  })
  return pendingBatch
}

export function feedbackQuery(rated: RatedAnswer) {
  return queryOptions({
    queryKey: feedbackKey(rated),
    queryFn: () =>
      liveFeedback.read(feedbackKey(rated), async () => {
        const ratings = await fetchBatched(rated.messageId)
        const own = ratings.find((row) => row.message_id === rated.messageId && row.version === rated.version)
        return own === undefined ? null : { rating: own.rating, reason: own.reason }
      }),
  })
}

const lastSent = new Map<string, Promise<unknown>>()

/** Sends after earlier requests for the same answer: a changed rating must not overtake the first. */
async function sendInOrder<T>({ messageId, version }: RatedAnswer, send: () => PromiseLike<T>): Promise<T> {
  const answer = `${messageId} ${version}`
  const sent = (lastSent.get(answer) ?? Promise.resolve()).then(send)
  const ended = sent.catch(() => undefined)
  lastSent.set(answer, ended)
  void ended.then(() => {
    if (lastSent.get(answer) === ended) lastSent.delete(answer)
  })
  return await sent
}

const UNIQUE_VIOLATION = '23505'

/** Another tab may have stored or withdrawn the rating since this one read it. @param isKnown whether this one has read one */
async function storeFeedback(
  { messageId, version }: RatedAnswer,
  owner: string,
  feedback: Feedback,
  isKnown: boolean,
): Promise<{ error: PostgrestError | null }> {
  const table = rest().from('message_feedback')
  const change = () => table.update(feedback).eq('message_id', messageId).eq('version', version).select('version')
  if (isKnown) {
    const changed = await change()
    if (changed.error !== null || changed.data.length > 0) return changed
  }
  const inserted = await table.insert({ message_id: messageId, version, owner, ...feedback })
  return inserted.error?.code === UNIQUE_VIOLATION ? change() : inserted
}

/** Rates an answer; null removes the rating. Updates the cache at once and reverts it on failure. */
export async function setFeedback(
  queryClient: QueryClient,
  userId: string,
  rated: RatedAnswer,
  feedback: Feedback | null,
): Promise<void> {
  const key = feedbackKey(rated)
  const before = queryClient.getQueryData<Feedback | null>(key) ?? null
  liveFeedback.set(queryClient, key, feedback)
  const { messageId, version } = rated
  const { error } = await sendInOrder(rated, () =>
    feedback === null
      ? rest().from('message_feedback').delete().eq('message_id', messageId).eq('version', version)
      : storeFeedback(rated, userId, feedback, before !== null),
  )
  if (error === null) return
  liveFeedback.set(queryClient, key, before)
  throw new Error(error.message, { cause: error })
}
