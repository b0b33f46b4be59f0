import { useMemo, type JSX } from 'react'
import { usePageTitle } from '#web/app/use-page-title.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { askingRefusal } from '#web/data/spaces/asking.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { mayChangeConversation } from '#web/data/spaces/space-rights.ts'
import { useThreadStore } from '#web/data/thread-store.ts'
import { Composer, type FilledDraft } from '#web/features/composer/composer.tsx'
import { ThreadActionsContext } from '#web/features/thread/actions/thread-actions.tsx'
import { OpenSourceContext } from '#web/features/thread/context/answer-context.tsx'
import { activeTitle } from '#web/lib/messages/conversation-labels.ts'
import type { CitedSource } from '#web/lib/route-state.ts'
import { ActiveChat } from './active-chat.tsx'
import { ComposerMicrophone } from './composer-microphone.tsx'
import { InputBar } from './input-bar.tsx'
import { useNavigation } from './navigation.tsx'
import { useAnswerActions } from './use-answer-actions.ts'
import { useConversation } from './use-conversation.ts'
import { useSpaceOfConversation } from './use-space-of-conversation.ts'
import type { ShownConversation } from './use-unknown-conversation.ts'

type ConversationViewProps = {
  id: string
  marginNotes: boolean
  /** The source whose passage is open in the viewer. */
  source: CitedSource | null
  filled: FilledDraft | null
  onSend: (text: string) => void
  onRetry: () => void
  onStop: () => void
  onUnknown: (was: ShownConversation | null, isGivenUp?: boolean) => void
}

export function ConversationView(props: ConversationViewProps): JSX.Element {
  const open = useConversation(props.id)
  const navigation = useNavigation()
  const actions = useAnswerActions(props.id, open, navigation)
  useSpaceOfConversation(open.conversation)
  const { id: userId } = useUser()
  const space = useCurrentSpace()
  const refusal = askingRefusal(open.conversation, space, userId)
  const isAsking = useThreadStore(
    ({ replies }) => replies[props.id]?.tools.some(({ status }) => status === 'asking') === true,
  )
  usePageTitle(open.conversation ? activeTitle(open.conversation) : null, open.waiting && !isAsking)
  const { id, filled, onSend, onStop } = props
  const { waiting } = open
  // The route state changes while the person scrolls the document; this value keeps its identity.
  const { messageId, n } = props.source ?? {}
  const source = useMemo(() => (messageId === undefined || n === undefined ? null : { messageId, n }), [messageId, n])
  // Memoized: the steps of a streamed answer do not change it.
  const messageBox = useMemo(
    () => (
      <InputBar conversationId={id} mayAsk={refusal === null}>
        <Composer
          key={id}
          conversationId={id}
          waiting={waiting}
          refusal={refusal}
          filled={filled}
          onSend={onSend}
          onStop={refusal === null ? onStop : null}
          Microphone={ComposerMicrophone}
        />
      </InputBar>
    ),
    [id, waiting, refusal, filled, onSend, onStop],
  )
  return (
    <>
      <OpenSourceContext value={source}>
        <ThreadActionsContext value={refusal === null ? actions.thread : null}>
          <ActiveChat
            id={props.id}
            open={open}
            marginNotes={props.marginNotes}
            onOpenSource={navigation.openSource}
            onOpenChat={navigation.selectChat}
            onRename={
              open.conversation && mayChangeConversation(open.conversation, space, userId) ? actions.rename : null
            }
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
