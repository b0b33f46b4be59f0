import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { rest } from './client.ts'

export type Rating = -1 | 1
export type Feedback = { rating: Rating; reason: string | null }

/** A rating belongs to one version of an answer. */
export type Rated = { messageId: string; version: number }

const stored = z.array(
  z.object({
    message_id: z.uuid(),
    version: z.int(),
    rating: z.union([z.literal(-1), z.literal(1)]),
    reason: z.string().nullable(),
  }),
)

const feedbackKey = ({ messageId, version }: Rated) => ['message_feedback', messageId, version] as const

/** While somebody scrolls, answers come into view one by one. */
const GATHER_MS = 100

let readAt = Number.NEGATIVE_INFINITY
let asked: Promise<z.infer<typeof stored>> | null = null
const askedFor = new Set<string>()

/** Ratings that are asked for at the same moment, or soon after others were read, are read at once. */
function readWithOthers(messageId: string): Promise<z.infer<typeof stored>> {
  askedFor.add(messageId)
  const waitMs = Math.max(0, readAt + GATHER_MS - performance.now())
  asked ??= new Promise((resolve) => setTimeout(resolve, waitMs)).then(async () => {
    readAt = performance.now()
    const ids = [...askedFor]
    askedFor.clear()
    asked = null
    const { data, error } = await rest()
      .from('message_feedback')
      .select('message_id,version,rating,reason')
      .in('message_id', ids)
    if (error !== null) throw new Error(error.message, { cause: error })
    return stored.parse(data)
  })
  return asked
}

/** The person's own rating of an answer; null when there is none. */
export function feedbackQuery(rated: Rated) {
  return queryOptions({
    queryKey: feedbackKey(rated),
    queryFn: async (): Promise<Feedback | null> => {
      const ratings = await readWithOthers(rated.messageId)
      const own = ratings.find((row) => row.message_id === rated.messageId && row.version === rated.version)
      return own === undefined ? null : { rating: own.rating, reason: own.reason }
    },
  })
}

/** For each answer, what ends with its last rating that was sent. */
const lastSent = new Map<string, Promise<unknown>>()

/** Sends after what was sent for the same answer: a change of mind must not overtake what it changes. */
async function inOrder<T>({ messageId, version }: Rated, send: () => PromiseLike<T>): Promise<T> {
  const answer = `${messageId} ${version}`
  const sent = (lastSent.get(answer) ?? Promise.resolve()).then(send)
  const ended = sent.catch(() => undefined)
  lastSent.set(answer, ended)
  void ended.then(() => {
    if (lastSent.get(answer) === ended) lastSent.delete(answer)
  })
  return await sent
}

/** Rates an answer, or takes the rating back with null. Shown at once, undone when it cannot be stored. */
export async function giveFeedback(
  queryClient: QueryClient,
  userId: string,
  rated: Rated,
  feedback: Feedback | null,
): Promise<void> {
  const key = feedbackKey(rated)
  const before = queryClient.getQueryData<Feedback | null>(key) ?? null
  queryClient.setQueryData(key, feedback)
  const { messageId, version } = rated
  const table = rest().from('message_feedback')
  const { error } = await inOrder(rated, () =>
    feedback === null
      ? table.delete().eq('message_id', messageId).eq('version', version)
      : before === null
        ? table.insert({ message_id: messageId, version, owner: userId, ...feedback })
        : table.update(feedback).eq('message_id', messageId).eq('version', version),
  )
  if (error === null) return
  queryClient.setQueryData(key, before)
  throw new Error(error.message, { cause: error })
}
