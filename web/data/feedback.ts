import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { rest } from './client.ts'

export type Rating = -1 | 1

const ratings = z.array(z.object({ message_id: z.string(), rating: z.union([z.literal(-1), z.literal(1)]) }))

const feedbackKey = (messageId: string) => ['message_feedback', messageId] as const

/** The person's own rating of an answer; null when there is none. */
export function feedbackQuery(messageId: string) {
  return queryOptions({
    queryKey: feedbackKey(messageId),
    queryFn: async (): Promise<Rating | null> => {
      const { data, error } = await rest()
        .from('message_feedback')
        .select('message_id,rating')
        .eq('message_id', messageId)
      if (error !== null) throw new Error(error.message, { cause: error })
      return ratings.parse(data)[0]?.rating ?? null
    },
  })
}

/** Rates an answer, or takes the rating back with null. Shown at once, undone when it cannot be stored. */
export async function rateMessage(
  queryClient: QueryClient,
  userId: string,
  messageId: string,
  rating: Rating | null,
): Promise<void> {
  const before = queryClient.getQueryData<Rating | null>(feedbackKey(messageId)) ?? null
  queryClient.setQueryData(feedbackKey(messageId), rating)
  const table = rest().from('message_feedback')
  const { error } = await (rating === null
    ? table.delete().eq('message_id', messageId)
    : before === null
      ? table.insert({ message_id: messageId, owner: userId, rating })
      : table.update({ rating }).eq('message_id', messageId))
  if (error === null) return
  queryClient.setQueryData(feedbackKey(messageId), before)
  throw new Error(error.message, { cause: error })
}
