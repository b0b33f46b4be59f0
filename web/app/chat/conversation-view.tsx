import type { JSX } from 'react'
import { Composer, type FilledDraft } from '#web/features/composer/composer.tsx'
import type { OpenSource } from '#web/features/thread/assistant-message.tsx'
import { activeTitle } from '#web/lib/conversation-words.ts'
import { usePageTitle } from '#web/app/use-page-title.ts'
import { ActiveChat } from './active-chat.tsx'
import { BoxMicrophone } from './box-microphone.tsx'
import { InputBar } from './input-bar.tsx'
import { useConversation } from './use-conversation.ts'

type ConversationViewProps = {
  id: string
  marginNotes: boolean
  filled: FilledDraft | null
  onOpenSource: OpenSource
  onSend: (text: string) => void
  onRetry: () => void
  onStop: () => void
  onUnknown: () => void
}

/** The conversation that is open, with its message box. */
export function ConversationView(props: ConversationViewProps): JSX.Element {
  const open = useConversation(props.id)
  usePageTitle(open.conversation ? activeTitle(open.conversation) : null, open.waiting)
  return (
    <>
      <ActiveChat
        id={props.id}
        open={open}
        marginNotes={props.marginNotes}
        onOpenSource={props.onOpenSource}
        onRetryReply={props.onRetry}
        onUnknown={props.onUnknown}
      />
      <InputBar>
        <Composer
          key={props.id}
          conversationId={props.id}
          waiting={open.waiting}
          filled={props.filled}
          onSend={props.onSend}
          onStop={props.onStop}
          Microphone={BoxMicrophone}
        />
      </InputBar>
    </>
  )
}
