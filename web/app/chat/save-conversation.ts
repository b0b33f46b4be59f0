import type { QueryClient } from '@tanstack/react-query'
import { loadWholeConversation } from '#web/data/whole-conversation.ts'
import { conversationMarkdown } from '#web/lib/markdown/conversation-markdown.ts'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import { hideRepeatedSummaries } from '#web/lib/messages/hide-repeated-summaries.ts'
import { saveFile } from '#web/lib/save-file.ts'
import { toast } from '#web/ui/toast.tsx'

/** Saves all of a conversation as a Markdown file. */
export async function saveConversation(id: string, queryClient: QueryClient): Promise<void> {
  try {
    const { conversation, messages } = await loadWholeConversation(id, queryClient)
    const title = activeTitle(conversation)
    const text = conversationMarkdown(title, hideRepeatedSummaries(messages))
    saveFile(`${title}.md`, new Blob([text], { type: 'text/markdown' }))
  } catch (error) {
    console.error(error)
    toast({ title: 'Error', description: 'The conversation could not be loaded.', variant: 'destructive' })
  }
}
