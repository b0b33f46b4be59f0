import { queryOptions } from '@tanstack/react-query'
import { z } from 'zod'
import { rest } from './client.ts'

const summary = z.object({ content: z.string(), model: z.string(), messages: z.int() })

/** The summary that replaced the beginning of a conversation in a prompt; null if it was deleted. */
export function summaryQuery(id: string) {
  return queryOptions({
    queryKey: ['conversation_summaries', id] as const,
    queryFn: async (): Promise<z.infer<typeof summary> | null> => {
      const { data, error } = await rest()
        .from('conversation_summaries')
        .select('content,model,messages')
        .eq('id', id)
        .maybeSingle()
      if (error !== null) throw new Error(error.message, { cause: error })
      return summary.nullable().parse(data)
    },
  })
}
