import { memo, type ReactNode } from 'react'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { isTemporary, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'
import { AnswerMessage } from './answer-message.tsx'
import type { OpenSource } from './assistant-message.tsx'
import { ToolMessage } from './tool-message.tsx'
import { UserMessage } from './user-message.tsx'

const NO_CONTENT = 'Message content unavailable'
const NO_SOURCES: [] = []

/** An answer without text: only its error is shown. */
export const isFailure = ({ content, metadata }: ThreadMessage): boolean =>
  content === '' && metadata?.error !== undefined

type StoredMessageProps = {
  message: ThreadMessage
  first: boolean
  retryable: boolean
  showToolMessages: boolean
  marginNotes: boolean
  onOpenSource: OpenSource
  onRetry: () => void
}

/** Memoized, so that the streaming of a later answer does not render it again. */
export const StoredMessage = memo(function StoredMessage(props: StoredMessageProps): ReactNode {
  const { message } = props
  const { id, content, metadata } = message
  switch (message.sender_role) {
    case SENDER_ROLES.user:
      return (
        <UserMessage
          messageId={id}
          content={content === '' ? NO_CONTENT : content}
          createdAt={message.created_at}
          pending={isTemporary(message)}
          author={message.author ?? null}
          withOwnDocuments={metadata?.ownDocuments === true}
        />
      )
    case SENDER_ROLES.tool:
      return props.showToolMessages ? (
        <ToolMessage
          name={metadata?.tool_name}
          durationMs={metadata?.duration_ms}
          content={content}
          status={metadata?.status ?? 'done'}
        />
      ) : null
    case SENDER_ROLES.assistant: {
      const error = metadata?.error ?? null
      const stopped = metadata?.stopped === true
      const writing = message.writing === true
      const isEmpty = content === '' && error === null && !stopped && !writing
      return (
        <AnswerMessage
          messageId={id}
          text={isEmpty ? NO_CONTENT : content}
          sources={isFailure(message) ? NO_SOURCES : (metadata?.sources ?? NO_SOURCES)}
          error={error}
          stopped={stopped}
          metadata={metadata}
          tokensIn={message.token_in}
          tokensOut={message.token_out}
          showTrace={props.showToolMessages}
          writing={writing}
          first={props.first}
          marginNotes={props.marginNotes}
          onOpenSource={props.onOpenSource}
          onRetry={props.retryable ? props.onRetry : null}
        />
      )
    }
  }
})
