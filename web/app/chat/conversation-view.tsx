import { useMemo, type JSX } from 'react'
import { usePageTitle } from '#web/app/use-page-title.ts'
import { Composer, type FilledDraft } from '#web/features/composer/composer.tsx'
import { ThreadActionsContext } from '#web/features/thread/actions/thread-actions.tsx'
import { OpenSourceContext } from '#web/features/thread/message/answer-context.tsx'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import type { CitedSource } from '#web/lib/route-state.ts'
import { ActiveChat } from './active-chat.tsx'
import { ComposerMicrophone } from './composer-microphone.tsx'
import { InputBar } from './input-bar.tsx'
import { useAnswerActions } from './use-answer-actions.ts'
import { useConversation } from './use-conversation.ts'

type ConversationViewProps = {
  id: string
  marginNotes: boolean
  /** Stands open beside the conversation. */
  source: CitedSource | null
  filled: FilledDraft | null
  onOpenSource: OpenSource
  onSend: (text: string) => void
  onRetry: () => void
  onStop: () => void
  onOpenChat: (id: string) => void
  onBranched: (id: string) => void
  onUnknown: (wasDeleted: boolean) => void
  onOpenSettings: () => void
}

/** The conversation that is open, with its message box. */
export function ConversationView(props: ConversationViewProps): JSX.Element {
  const open = useConversation(props.id)
  const actions = useAnswerActions(props.id, open, props)
  usePageTitle(open.conversation ? activeTitle(open.conversation) : null, open.waiting)
  const { id, filled, onSend, onStop } = props
  const { waiting } = open
  // The address changes with each page that is scrolled to.
  const { messageId, n } = props.source ?? {}
  const source = useMemo(() => (messageId === undefined || n === undefined ? null : { messageId, n }), [messageId, n])
  // It has no part in an answer that is written step by step.
  const messageBox = useMemo(
    () => (
      <InputBar>
        <Composer
          key={id}
          conversationId={id}
          waiting={waiting}
          filled={filled}
          onSend={onSend}
          onStop={onStop}
          Microphone={ComposerMicrophone}
        />
      </InputBar>
    ),
    [id, waiting, filled, onSend, onStop],
  )
  return (
    <>
      <OpenSourceContext value={source}>
        <ThreadActionsContext value={actions.thread}>
          <ActiveChat
            id={props.id}
            open={open}
            marginNotes={props.marginNotes}
            onOpenSource={props.onOpenSource}
            onOpenChat={props.onOpenChat}
            onRename={actions.rename}
            onRetryReply={props.onRetry}
            onUnknown={props.onUnknown}
          />
        </ThreadActionsContext>
      </OpenSourceContext>
      {messageBox}
    </>
  )
}
