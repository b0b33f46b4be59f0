import type { ConversationRow } from '#contract/conversation.ts'
import type { OwnSpace } from './spaces.ts'

type Asked = Pick<ConversationRow, 'uid'>

/**
 * The sentence that says why the person may not ask; null where it may, and while that is not known: the server decides.
 * @param conversation null: a new one
 */
export function askingRefusal(
  conversation: Asked | null | undefined,
  space: OwnSpace | null | undefined,
  userId: string,
): string | null {
  if (!space) return null
  if (space.archived_at !== null) return `“${space.name}” is archived. It can be read, and nothing is added to it.`
  if (!conversation || conversation.uid === userId || space.role !== 'reader') return null
  return `You can read this conversation. Its author and the editors of “${space.name}” go on in it.`
}
