import type { JSX } from 'react'
import type { FoundMessage, FoundPassage } from '#contract/search.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import type { TargetMessage } from '#web/data/target-message.ts'
import { PaletteDialog } from '#web/features/palette/palette-dialog.tsx'
import type { RailTab } from './rail.tsx'
import type { usePalette } from './use-palette.ts'
import { usePaletteActions } from './use-palette-actions.ts'

type PaletteProps = {
  palette: ReturnType<typeof usePalette>
  onNewChat: () => void
  onOpenTab: (tab: RailTab) => void
  onSelectChat: (id: string) => void
  onOpenMessage: (target: TargetMessage) => void
  onOpenDocument: (id: string) => void
  onOpenPassage: (passage: FoundPassage) => void
}

/** Whoever opened a conversation goes on with the keyboard there, unless an on-screen one would come up with it. */
function focusConversation(): void {
  if (!matchMedia('(hover: hover)').matches) return
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main textarea:enabled')?.focus())
}

/** The command palette with what this page can open and do. */
export function Palette(props: PaletteProps): JSX.Element {
  const user = useUser()
  const actions = usePaletteActions({ newChat: props.onNewChat, openTab: props.onOpenTab })
  const { View, isOpen, setOpen } = props.palette
  const openMessage = (message: FoundMessage): void =>
    props.onOpenMessage({
      conversationId: message.conversation_id,
      messageId: message.message_id,
      position: message.position,
    })
  return (
    <PaletteDialog
      View={View}
      open={isOpen}
      onOpenChange={setOpen}
      userId={user.id}
      actions={actions}
      onOpenConversation={(id) => {
        props.onSelectChat(id)
        focusConversation()
      }}
      onOpenMessage={openMessage}
      onOpenDocument={props.onOpenDocument}
      onOpenPassage={props.onOpenPassage}
    />
  )
}
