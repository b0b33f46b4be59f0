import { GitBranch, Pin, PinOff, Trash2, Users } from 'lucide-react'
import { hashKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore, type JSX } from 'react'
import type { ListedConversation } from '#contract/conversation.ts'
import { conversationQuery } from '#web/data/conversations.ts'
import type { UnreadConversation } from '#web/data/spaces/unread-answers.ts'
import { unreadKey } from '#web/data/spaces/unread-key.ts'
import { formatDateLabel, formatTime } from '#web/lib/format/format-date.ts'
import { formatMoment } from '#web/lib/format/format-moment.ts'
import { describeBranch, listTitle } from '#web/lib/messages/conversation-labels.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import type { VirtualRow } from '#web/ui/virtual-rows.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './conversation-item.module.css'

type ConversationItemProps = {
  conversation: ListedConversation
  item: VirtualRow
  /** The name of its model. */
  description: string
  active: boolean
  mayPin: boolean
  mayDelete: boolean
  onSelect: () => void
  onPin: () => void
  /** Called with the button that pins, whenever it is drawn. */
  onPinDrawn: (button: HTMLButtonElement | null) => void
  onDelete: () => void
}

export function ConversationItem({
  conversation,
  item,
  description,
  active,
  mayPin,
  mayDelete,
  onSelect,
  onPin,
  onPinDrawn,
  onDelete,
}: ConversationItemProps): JSX.Element {
  const title = listTitle(conversation)
  const branch = useBranchLabel(conversation)
  const isUnread = useIsUnread(conversation.id) && !active
  return (
    <li {...item} className={classNames(item.className, styles.item, active && styles.active)}>
      <button type="button" className={styles.open} onClick={onSelect} aria-current={active ? 'true' : undefined}>
        <span
          className={styles.title}
          dir="auto"
          data-unread={isUnread}
          title={branch === null ? title : `${title}\n${branch}`}
        >
          {branch !== null && <GitBranch size={13} aria-hidden className={styles.branch} />}
          {conversation.is_shared && <Users size={13} aria-hidden className={styles.branch} />}
          {title}
        </span>
        <span className={styles.description}>{description}</span>
        <span className={styles.when} title={formatMoment(conversation.started_at)}>
          <span>{formatDateLabel(conversation.started_at)}</span>
          <time dateTime={conversation.started_at}>{formatTime(conversation.started_at)}</time>
        </span>
        {isUnread && <span className={hidden.hidden}>Unread answer</span>}
        {branch !== null && <span className={hidden.hidden}>{branch}</span>}
        {conversation.is_shared && <span className={hidden.hidden}>Shared with the space</span>}
      </button>
      {mayDelete && (
        <span className={styles.actions}>
          {mayPin && (
            <Button
              ref={onPinDrawn}
              variant="ghost"
              size="icon"
              className={styles.action}
              aria-label={`${conversation.pinned ? 'Unpin' : 'Pin'} ${title}`}
              title={conversation.pinned ? 'Unpin' : 'Pin'}
              onClick={onPin}
            >
              {conversation.pinned ? <PinOff size={15} /> : <Pin size={15} />}
            </Button>
          )}
          <Button
            variant="ghost"
            size="icon"
            className={styles.action}
            aria-label={`Delete ${title}`}
            title="Delete"
            onClick={onDelete}
          >
            <Trash2 size={15} />
          </Button>
        </span>
      )}
    </li>
  )
}

const UNREAD_HASH = hashKey(unreadKey)

/** False until the page has read what is unread, which comes after the list. */
function useIsUnread(id: string): boolean {
  const queryClient = useQueryClient()
  const cache = queryClient.getQueryCache()
  // An observer without the query's function, whose code loads late, would take that from every other reader.
  const follow = useCallback(
    (onChange: () => void) =>
      cache.subscribe(({ query }) => {
        if (query.queryHash === UNREAD_HASH) onChange()
      }),
    [cache],
  )
  const rows = useSyncExternalStore(follow, () => queryClient.getQueryData<readonly UnreadConversation[]>(unreadKey))
  return rows?.some((row) => row.conversation_id === id) === true
}

/** Null for conversations that are no branch, and until the origin is read. */
function useBranchLabel({ branched_from: originId }: ListedConversation): string | null {
  const { data: origin } = useQuery({ ...conversationQuery(originId ?? ''), enabled: originId !== null })
  return originId === null || origin === undefined ? null : describeBranch(origin)
}
