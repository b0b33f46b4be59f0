import type { JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { useAuthorName } from '#web/data/spaces/author-names.ts'

/** Says who sees a conversation of a space, after the name of its model. */
export function SharingNote({ conversation }: { conversation: ConversationRow }): JSX.Element {
  const { id: userId } = useUser()
  const author = useAuthorName(conversation.uid ?? '')
  const words = (): string => {
    if (conversation.uid !== userId)
      return author === undefined ? 'shared with the space' : `shared by ${author ?? 'a former member'}`
    return conversation.is_shared ? 'shared with the space' : 'only you see it'
  }
  return <> · {words()}</>
}
