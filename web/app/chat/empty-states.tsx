import type { JSX, ReactNode } from 'react'
import { useSelectedModel } from '#web/data/selected-model.ts'
import { MessageList } from '#web/features/thread/list/message-list.tsx'
import { ThreadScroller } from '#web/features/thread/list/thread-scroller.tsx'
import { modelLabel } from '#web/lib/messages/conversation-labels.ts'
import type { ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './main-area.module.css'

const SUGGESTIONS = [
  'How do I set up a personal note-taking system?',
  'Help me manage my daily tasks and productivity',
  'How can I build a connected personal knowledge base?',
]

const nothing = (): void => undefined

export function NewConversation({ messages }: { messages: ThreadMessage[] }): JSX.Element {
  const identifier = useSelectedModel((state) => state.identifier)
  return (
    <ThreadScroller threadKey="new" ownMessageKey={undefined} oldestKey={undefined} onNearStart={null} targetId={null}>
      <header className={styles.heading}>
        <h1 className={styles.title}>New Conversation</h1>
        {/* The specification asks for the identifier here, not the name. */}
        <p className={styles.model}>{modelLabel(identifier, [])}</p>
      </header>
      <MessageList
        messages={messages}
        reply={null}
        waiting
        showToolMessages={false}
        marginNotes={false}
        fromStart
        onOpenSource={nothing}
        onRetry={nothing}
      />
    </ThreadScroller>
  )
}

export function WelcomeBack({ onSuggestion }: { onSuggestion: (text: string) => void }): JSX.Element {
  return (
    <Page>
      <div className={styles.empty}>
        <h1 className={styles.title}>Welcome back!</h1>
        <p className={styles.words}>Ask me anything or use one of the suggestions below</p>
        <ul className={styles.suggestions}>
          {SUGGESTIONS.map((suggestion) => (
            <li key={suggestion}>
              <Button variant="outline" className={styles.suggestion} onClick={() => onSuggestion(suggestion)}>
                {suggestion}
              </Button>
            </li>
          ))}
        </ul>
      </div>
    </Page>
  )
}

type UnknownConversationProps = {
  onNewChat: () => void
  /** Null while the history is visible. */
  onOpenHistory: (() => void) | null
}

/** Another person's conversation gets this text too, so that it does not reveal whether an id exists. */
export function UnknownConversation({ onNewChat, onOpenHistory }: UnknownConversationProps): JSX.Element {
  return (
    <div className={styles.unknown} role="alert">
      <div className={styles.unknownContent}>
        <p>
          <strong>This conversation is not there.</strong> It was deleted, it is somebody else’s, or the address is
          incomplete.
        </p>
        <p className={styles.ways}>
          <Button variant="outline" size="sm" onClick={onNewChat}>
            Start a new chat
          </Button>
          {onOpenHistory !== null && (
            <Button variant="outline" size="sm" onClick={onOpenHistory}>
              Open chat history
            </Button>
          )}
        </p>
      </div>
    </div>
  )
}

export function Page({ children }: { children: ReactNode }): JSX.Element {
  return (
    <div className={styles.page}>
      <div className={styles.pageContent}>{children}</div>
    </div>
  )
}
