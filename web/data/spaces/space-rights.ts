import type { ConversationRow } from '#contract/conversation.ts'
import type { OwnSpace } from './spaces.ts'

/** Whether the person adds and removes documents, and changes instructions. */
export const mayEdit = (space: Pick<OwnSpace, 'role' | 'archived_at'>): boolean =>
  space.role !== 'reader' && space.archived_at === null

/** The sentence that says why the person adds no documents; null where it may, and while that is not known. */
export function addingRefusal(space: Pick<OwnSpace, 'role' | 'archived_at'> | null | undefined): string | null {
  if (!space || mayEdit(space)) return null
  return space.archived_at === null
    ? 'Owners and editors add documents here.'
    : 'This space is archived: nothing is added to it.'
}

type OwnedConversation = Pick<ConversationRow, 'uid' | 'is_shared'>

/**
 * Whether the person changes a conversation: its title, and whether it is pinned.
 * @param space in which it is; null: personal, undefined: not read yet, so that the server decides
 */
export const mayChangeConversation = (
  { uid }: Pick<ConversationRow, 'uid'>,
  space: Pick<OwnSpace, 'archived_at'> | null | undefined,
  userId: string,
): boolean => uid === userId && (!space || space.archived_at === null)

/** Whether an owner of its space ends the sharing of what another person shares there. */
export const mayUnshareOfOther = (
  { uid, is_shared: isShared }: OwnedConversation,
  space: Pick<OwnSpace, 'role'> | undefined,
  userId: string,
): boolean => typeof uid === 'string' && uid !== userId && isShared === true && space?.role === 'owner'

/** Owners delete what others share in their space. @param space as of `mayChangeConversation` */
export const mayDeleteConversation = (
  { uid, is_shared: isShared }: OwnedConversation,
  space: Pick<OwnSpace, 'role'> | null | undefined,
  userId: string,
): boolean => uid === userId || (isShared === true && space?.role === 'owner')
