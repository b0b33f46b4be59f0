import { useMemo, type JSX } from 'react'
import { usePageTitle } from '#web/app/use-page-title.ts'
import { Composer, type FilledDraft } from '#web/features/composer/composer.tsx'
import { ThreadActionsContext } from '#web/features/thread/actions/thread-actions.tsx'
import { OpenSourceContext } from '#web/features/thread/message/answer-context.tsx'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import type { CitedSource } from '#web/lib/route-state.ts'
import { ActiveChat } from './active-chat.tsx'
import { ComposerMicrophone } from './composer-microphone.tsx'
import { InputBar } from './input-bar.tsx'
import { useNavigation } from './navigation.tsx'
import { useAnswerActions } from './use-answer-actions.ts'
import { useConversation } from './use-conversation.ts'

type ConversationViewProps = {
  id: string
  marginNotes: boolean
  /** The source whose passage is open in the viewer. */
  source: CitedSource | null
  filled: FilledDraft | null
  onSend: (text: string) => void
  onRetry: () => void
  onStop: () => void
  onUnknown: (wasDeleted: boolean) => void
}

export function ConversationView(props: ConversationViewProps): JSX.Element {
  const open = useConversation(props.id)
  const navigation = useNavigation()
  const actions = useAnswerActions(props.id, open, navigation)
  usePageTitle(open.conversation ? activeTitle(open.conversation) : null, open.waiting)
  const { id, filled, onSend, onStop } = props
  const { waiting } = open
  // The route state changes while the person scrolls the document; this value keeps its identity.
  const { messageId, n } = props.source ?? {}
  const source = useMemo(() => (messageId === undefined || n === undefined ? null : { messageId, n }), [messageId, n])
  // Memoized: the steps of a streamed answer do not change it.
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
            onOpenSource={navigation.openSource}
            onOpenChat={navigation.selectChat}
            onRename={actions.rename}
            onPrint={() => navigation.print({ kind: 'conversation', id })}
            onRetryReply={props.onRetry}
            onUnknown={props.onUnknown}
          />
        </ThreadActionsContext>
      </OpenSourceContext>
      {messageBox}
    </>
  )
}
