import { useEffect, useRef, type JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { useModelLabel } from '#web/data/models.ts'
import { usePageSettings } from '#web/data/settings.ts'
import { useThreadStore } from '#web/data/thread-store.ts'
import { SharedByContext } from '#web/features/thread/context/shared-by-context.ts'
import { MessageList, type MessageListProps } from '#web/features/thread/list/message-list.tsx'
import { ThreadScroller } from '#web/features/thread/list/thread-scroller.tsx'
import { useShownMessages } from '#web/features/thread/list/use-shown-messages.ts'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import { ConversationTitle } from '#web/features/thread/message/conversation-title.tsx'
import { activeTitle, branchOriginId } from '#web/lib/messages/conversation-labels.ts'
import { messageKey, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { overlayReply } from '#web/lib/messages/overlay-reply.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { ConversationMenu, SharingNote } from './late-chunk-parts.ts'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import styles from './main-area.module.css'
import { useAfterFirstReads } from './use-after-first-reads.ts'
import type { OpenConversation } from './use-conversation.ts'
import type { ShownConversation } from './use-unknown-conversation.ts'

const NO_MESSAGES: readonly ThreadMessage[] = []

type ActiveChatProps = {
  id: string
  open: OpenConversation
  marginNotes: boolean
  onOpenSource: OpenSource
  onOpenChat: (id: string) => void
  /** Null for the conversation of another person. */
  onRename: ((title: string) => Promise<boolean>) | null
  onPrint: () => void
  onRetryReply: () => void
  /** Called when the conversation cannot be read; with the row that was shown before. */
  onUnknown: (was: ShownConversation | null, isGivenUp?: boolean) => void
}

export function ActiveChat({
  id,
  open,
  marginNotes,
  onOpenSource,
  onOpenChat,
  onRename,
  onPrint,
  onRetryReply,
  onUnknown,
}: ActiveChatProps): JSX.Element {
  const { conversation, thread, failed, waiting } = open
  const modelLabel = useModelLabel()
  const showToolMessages = usePageSettings((state) => state.showToolMessages)
  const isBeingAnswered = useThreadStore(({ replies }) => replies[id] !== undefined)
  const isMenuDue = useAfterFirstReads()
  const shownRow = useRef<ConversationRow | null>(null)
  const isGivenUp = useRef(false)
  useEffect(() => {
    if (conversation === null) onUnknown(shownRow.current, isGivenUp.current)
    if (conversation) shownRow.current = conversation
  }, [conversation, onUnknown])

  const sharedBy = conversation?.is_shared === true ? (conversation.uid ?? '') : null
  const branchedFrom = conversation ? branchOriginId(conversation) : null
  const messages = thread?.messages ?? NO_MESSAGES
  const { shown, showEarlier } = useShownMessages(messages, open.targetId, open.loadEarlier)
  const ownLast = messages.findLast(({ sender_role }) => sender_role === SENDER_ROLES.user)
  const oldest = shown[0]
  return (
    <ThreadScroller
      threadKey={`${id}:${thread === null ? 'loading' : 'loaded'}`}
      ownMessageKey={ownLast === undefined ? undefined : messageKey(ownLast)}
      oldestKey={oldest === undefined ? undefined : messageKey(oldest)}
      onNearStart={showEarlier}
      targetId={open.targetId}
    >
      <header className={styles.heading}>
        <ConversationTitle
          title={activeTitle(conversation)}
          onRename={conversation ? onRename : null}
          onPrint={conversation ? onPrint : null}
        >
          {conversation && isMenuDue && (
            <ErrorBoundary isQuiet>
              <ConversationMenu conversation={conversation} onGiveUp={() => (isGivenUp.current = true)} />
            </ErrorBoundary>
          )}
        </ConversationTitle>
        <p className={styles.model}>
          {/* Blank while loading, so that no other name flashes up. */}
          {conversation === undefined ? '\u00a0' : modelLabel(conversation?.model_name)}
          {typeof conversation?.space_id === 'string' && (
            <ErrorBoundary isQuiet>
              <SharingNote conversation={conversation} />
            </ErrorBoundary>
          )}
          {branchedFrom !== null && (
            <>
              {' · '}
              <Button variant="link" className={styles.origin} onClick={() => onOpenChat(branchedFrom)}>
                Branched from another conversation
              </Button>
            </>
          )}
        </p>
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
      {thread !== null && messages.length === 0 && !isBeingAnswered && (
        <div className={styles.empty}>
          <p className={styles.title}>New Conversation</p>
          <p className={styles.words}>Start by asking a question or uploading a document</p>
        </div>
      )}
      {thread !== null && (
        <SharedByContext value={sharedBy}>
          <LiveMessages
            id={id}
            messages={shown}
            waiting={waiting}
            showToolMessages={showToolMessages}
            marginNotes={marginNotes}
            fromStart={showEarlier === null}
            onOpenSource={onOpenSource}
            onRetry={onRetryReply}
          />
        </SharedByContext>
      )}
    </ThreadScroller>
  )
}

/** Only this component renders on every step of the streamed reply. */
function LiveMessages({ id, messages, ...rest }: Omit<MessageListProps, 'reply'> & { id: string }): JSX.Element {
  const reply = useThreadStore(({ replies }) => replies[id]) ?? null
  const shown = overlayReply(messages, reply)
  return <MessageList {...rest} messages={shown.messages} reply={shown.reply} />
}
