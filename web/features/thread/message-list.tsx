import type { JSX } from 'react'
import { SENDER_ROLES } from '#contract/message.ts'
import { isTemporary, messageKey, type ThreadMessage } from '#web/lib/merge-messages.ts'
import type { ReplyView } from '#web/lib/reply-parts.ts'
import { AssistantMessage, type OpenSource } from './assistant-message.tsx'
import { Thinking } from './thinking.tsx'
import { ToolMessage } from './tool-message.tsx'
import { useAnnouncement } from './use-announcement.ts'
import { UserMessage } from './user-message.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './message.module.css'

const NO_CONTENT = 'Message content unavailable'
const NO_SOURCES: [] = []

/** An answer of which nothing came: only its error is to be shown. */
const isFailure = ({ content, metadata }: ThreadMessage): boolean => content === '' && metadata?.error !== undefined

export type MessageListProps = {
  messages: readonly ThreadMessage[]
  /** The reply that is being written; gives way to the row of the same id. */
  reply: ReplyView | null
  waiting: boolean
  showToolMessages: boolean
  marginNotes: boolean
  /** Whether the first message here is the conversation's first. */
  fromStart: boolean
  onOpenSource: OpenSource
  onRetry: () => void
}

/** A conversation: questions, answers and what tools did, oldest first. */
export function MessageList(props: MessageListProps): JSX.Element {
  const { messages, reply, waiting, marginNotes, onOpenSource, onRetry } = props
  const firstAnswer = props.fromStart
    ? messages.find((message) => message.sender_role === SENDER_ROLES.assistant && !isFailure(message))
    : null
  const streamed = reply !== null && !messages.some((message) => messageKey(message) === reply.messageId) ? reply : null
  const announcement = useAnnouncement(messages, waiting)
  const lastId = messages.at(-1)?.id

  const answerOf = (message: ThreadMessage): JSX.Element => {
    const error = message.metadata?.error ?? null
    const stopped = message.metadata?.stopped === true
    const isEmpty = message.content === '' && error === null && !stopped
    return (
      <AssistantMessage
        key={messageKey(message)}
        messageId={message.id}
        text={isEmpty ? NO_CONTENT : message.content}
        sources={isFailure(message) ? NO_SOURCES : (message.metadata?.sources ?? NO_SOURCES)}
        error={error}
        stopped={stopped}
        writing={false}
        first={message === firstAnswer}
        marginNotes={marginNotes}
        onOpenSource={onOpenSource}
        onRetry={error?.retryable === true && message.id === lastId && !waiting ? onRetry : null}
      />
    )
  }
  const elementOf = (message: ThreadMessage): JSX.Element | null => {
    switch (message.sender_role) {
      case SENDER_ROLES.user:
        return (
          <UserMessage
            key={messageKey(message)}
            content={message.content === '' ? NO_CONTENT : message.content}
            createdAt={message.created_at}
            pending={isTemporary(message)}
          />
        )
      case SENDER_ROLES.tool:
        return props.showToolMessages ? (
          <ToolMessage
            key={message.id}
            name={message.metadata?.tool_name}
            durationMs={message.metadata?.duration_ms}
            content={message.content}
            status={message.metadata?.status ?? 'done'}
          />
        ) : null
      case SENDER_ROLES.assistant:
        return answerOf(message)
    }
  }
  // One list, so that the streamed answer and its stored row are one and the same element.
  const elements = messages.map(elementOf)
  if (streamed !== null && streamed.text !== '') {
    elements.push(
      <AssistantMessage
        key={streamed.messageId}
        messageId={streamed.messageId}
        text={streamed.text}
        sources={streamed.sources}
        error={null}
        stopped={streamed.phase === 'stopped'}
        writing
        first={props.fromStart && firstAnswer === undefined}
        marginNotes={marginNotes}
        onOpenSource={onOpenSource}
        onRetry={null}
      />,
    )
  }
  const openTool = streamed?.tools.find((tool) => tool.status === 'running')?.name
  return (
    <div className={styles.thread}>
      {elements}
      {waiting && (streamed === null || streamed.text === '') && <Thinking tool={openTool} />}
      <p className={hidden.hidden} aria-live="polite">
        {announcement}
      </p>
    </div>
  )
}
