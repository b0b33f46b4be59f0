import { useEffect, type JSX } from 'react'
import { useModelLabel } from '#web/data/models.ts'
import { usePageSettings } from '#web/data/settings.ts'
import type { OpenSource } from '#web/features/thread/assistant-message.tsx'
import { MessageList } from '#web/features/thread/message-list.tsx'
import { ThreadScroller } from '#web/features/thread/thread-scroller.tsx'
import { activeTitle } from '#web/lib/conversation-words.ts'
import { messageKey } from '#web/lib/merge-messages.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import type { OpenConversation } from './use-conversation.ts'
import styles from './main-area.module.css'

type ActiveChatProps = {
  id: string
  open: OpenConversation
  marginNotes: boolean
  onOpenSource: OpenSource
  onRetryReply: () => void
  /** There is no such conversation. */
  onUnknown: () => void
}

/** The conversation that is open. */
export function ActiveChat({
  id,
  open,
  marginNotes,
  onOpenSource,
  onRetryReply,
  onUnknown,
}: ActiveChatProps): JSX.Element {
  const { conversation, thread, failed, waiting, reply } = open
  const modelLabel = useModelLabel()
  const showToolMessages = usePageSettings((state) => state.showToolMessages)
  const unknown = conversation === null
  useEffect(() => {
    if (unknown) onUnknown()
  }, [unknown, onUnknown])

  const messages = thread?.messages ?? []
  const ownLast = messages.findLast(({ sender_role }) => sender_role === 1)
  const oldest = messages[0]
  return (
    <ThreadScroller
      threadKey={`${id}:${thread === null ? 'loading' : 'loaded'}`}
      ownMessageKey={ownLast === undefined ? undefined : messageKey(ownLast)}
      oldestKey={oldest === undefined ? undefined : messageKey(oldest)}
      onNearStart={open.loadEarlier}
    >
      <header className={styles.heading}>
        <h1 className={styles.title}>{activeTitle(conversation)}</h1>
        <p className={styles.model}>{modelLabel(conversation?.model_name)}</p>
      </header>
      {thread === null && !failed && (
        <p className={styles.state} role="status">
          <Spinner /> Loading conversation...
        </p>
      )}
      {thread === null && failed && (
        <div className={styles.state} role="alert">
          <p>Failed to load chat history. Please try again.</p>
          <Button variant="outline" size="sm" onClick={open.reload}>
            Retry
          </Button>
        </div>
      )}
      {thread !== null && messages.length === 0 && reply === null && (
        <div className={styles.empty}>
          <p className={styles.title}>New Conversation</p>
          <p className={styles.words}>Start by asking a question or uploading a document</p>
        </div>
      )}
      {thread !== null && (
        <MessageList
          messages={messages}
          reply={reply}
          waiting={waiting}
          showToolMessages={showToolMessages}
          marginNotes={marginNotes}
          fromStart={!thread.hasEarlier}
          onOpenSource={onOpenSource}
          onRetry={onRetryReply}
        />
      )}
    </ThreadScroller>
  )
}
