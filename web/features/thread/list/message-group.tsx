import { memo, useEffect, useRef, type JSX, type ReactNode } from 'react'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import styles from '#web/features/thread/message/message.module.css'
import { StoredMessage } from '#web/features/thread/message/stored-message.tsx'
import { ThreadPosition } from '#web/features/thread/message/thread-position.tsx'
import { messageKey, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { replyAsMessage } from '#web/lib/messages/overlay-reply.ts'
import type { ReplyView } from '#web/lib/messages/reply-parts.ts'

type MessageGroupProps = {
  messages: readonly ThreadMessage[]
  /** The streamed reply, in the last group. */
  streamed: ReplyView | null
  /** The conversation's first answer carries the badge. */
  firstAnswerId: string | null
  retryableId: string | null
  showToolMessages: boolean
  marginNotes: boolean
  /** Position of the group's first message, counted from 1, and the number of messages; null while unknown. */
  position: number | null
  total: number | null
  last: boolean
  onOpenSource: OpenSource
  onRetry: () => void
}

/** The browser skips layout far from the viewport, but still finds text there and exposes it to screen readers. */
export const MessageGroup = memo(function MessageGroup(props: MessageGroupProps): JSX.Element {
  const { messages, streamed, firstAnswerId, marginNotes, onOpenSource, onRetry } = props
  const group = useRef<HTMLDivElement>(null)
  const { last } = props
  useEffect(() => {
    const element = group.current
    if (element === null || last) return
    // The measured height, with its fraction, keeps the scroll position exact once the group is skipped.
    element.style.containIntrinsicBlockSize = `auto ${element.getBoundingClientRect().height}px`
    element.style.contentVisibility = 'auto'
    return () => void element.style.removeProperty('content-visibility')
  }, [last])

  const placed = (key: string, index: number, element: ReactNode): JSX.Element => (
    <ThreadPosition key={key} position={props.position === null ? null : props.position + index} total={props.total}>
      {element}
    </ThreadPosition>
  )
  // A single list of one component type, so that the streamed answer and its stored row are the same element.
  const isShown = streamed !== null && (streamed.text !== '' || streamed.reasoning !== '')
  const shown = isShown ? [...messages, replyAsMessage(streamed)] : messages
  return (
    <div ref={group} className={styles.group}>
      {shown.map((message, index) =>
        placed(
          messageKey(message),
          index,
          <StoredMessage
            message={message}
            first={message.id === firstAnswerId}
            retryable={message.id === props.retryableId}
            showToolMessages={props.showToolMessages}
            marginNotes={marginNotes}
            onOpenSource={onOpenSource}
            onRetry={onRetry}
          />,
        ),
      )}
    </div>
  )
})
