import { memo, useEffect, useRef, type JSX, type ReactNode } from 'react'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import styles from '#web/features/thread/message/message.module.css'
import { StoredMessage } from '#web/features/thread/message/stored-message.tsx'
import { messageKey, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import type { ReplyView } from '#web/lib/messages/reply-parts.ts'
import { replyAsMessage } from '#web/lib/messages/overlay-reply.ts'
import { PlaceInThread } from './thread-position.tsx'

type MessageGroupProps = {
  messages: readonly ThreadMessage[]
  /** The reply that is being written, in the last group. */
  streamed: ReplyView | null
  /** The first answer of the conversation, which carries the badge. */
  firstAnswerId: string | null
  /** The failed answer that can be asked for again. */
  retryableId: string | null
  showToolMessages: boolean
  marginNotes: boolean
  /** Its first message's place in the conversation, counted from 1, and the number of all; null where not known. */
  place: number | null
  total: number | null
  /** Whether it is the one that grows. */
  last: boolean
  onOpenSource: OpenSource
  onRetry: () => void
}

/** Some turns of a conversation. Far from what is read the browser skips them, but finds words in them and reads them out. */
export const MessageGroup = memo(function MessageGroup(props: MessageGroupProps): JSX.Element {
  const { messages, streamed, firstAnswerId, marginNotes, onOpenSource, onRetry } = props
  const group = useRef<HTMLDivElement>(null)
  const { last } = props
  useEffect(() => {
    const element = group.current
    if (element === null || last) return
    // Only once it has been laid out: its place is kept by the height that it really has, to the fraction.
    element.style.containIntrinsicBlockSize = `auto ${element.getBoundingClientRect().height}px`
    element.style.contentVisibility = 'auto'
    return () => void element.style.removeProperty('content-visibility')
  }, [last])

  const placed = (key: string, index: number, element: ReactNode): JSX.Element => (
    <PlaceInThread key={key} place={props.place === null ? null : props.place + index} total={props.total}>
      {element}
    </PlaceInThread>
  )
  // One list of one component, so that the streamed answer and its stored row are one and the same element.
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
