import { queryOptions } from '@tanstack/react-query'
import { z } from 'zod'
import { conversationRow, type ConversationRow, type NewBranch } from '#contract/conversation.ts'
import { messageMetadata } from '#contract/message.ts'
import { apiFetch, apiSend, readJson, rest } from './client.ts'

const versions = z.array(
  z.object({
    version: z.int(),
    content: z.string(),
    token_in: z.int().nullable(),
    token_out: z.int().nullable(),
    metadata: messageMetadata,
    created_at: z.string(),
  }),
)
export type AnswerVersion = z.infer<typeof versions>[number]

export function earlierVersionsQuery(messageId: string, newest: number) {
  return queryOptions({
    queryKey: ['message_versions', messageId, newest] as const,
    queryFn: async (): Promise<AnswerVersion[]> => {
      const { data, error } = await rest()
        .from('message_versions')
        .select('version,content,token_in,token_out,metadata,created_at')
        .eq('message_id', messageId)
        .lt('version', newest)
        .order('version')
      if (error !== null) throw new Error(error.message, { cause: error })
      return versions.parse(data)
    },
  })
}

/** @param modelName model of the new version; null: the conversation's */
export async function regenerateAnswer(
  conversationId: string,
  messageId: string,
  modelName: string | null,
): Promise<void> {
  const given = modelName === null ? {} : { model_name: modelName }
  await apiSend('POST', `/api/conversations/${conversationId}/messages/${messageId}/regenerate`, given)
}

export async function continueAnswer(conversationId: string, messageId: string): Promise<void> {
  await apiFetch(`/api/conversations/${conversationId}/messages/${messageId}/continue`, { method: 'POST' })
}

export async function branchConversation(conversationId: string, branch: NewBranch): Promise<ConversationRow> {
  return conversationRow.parse(await readJson(apiSend('POST', `/api/conversations/${conversationId}/branch`, branch)))
}
