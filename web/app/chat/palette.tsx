import type { JSX } from 'react'
import type { FoundMessage } from '#contract/search.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { PaletteDialog } from '#web/features/palette/palette-dialog.tsx'
import { focusMessageBox } from './message-box.ts'
import { useNavigation } from './navigation.tsx'
import type { usePalette } from './use-palette.ts'

export function Palette({ palette }: { palette: ReturnType<typeof usePalette> }): JSX.Element {
  const user = useUser()
  const navigation = useNavigation()
  const { View, isOpen, setOpen } = palette
  const openMessage = (message: FoundMessage): void =>
    navigation.openMessage({
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
      onOpenConversation={(id) => {
        navigation.selectChat(id)
        requestAnimationFrame(focusMessageBox)
      }}
      onOpenMessage={openMessage}
      onOpenDocument={navigation.openDocument}
      onOpenPassage={navigation.openPassage}
    />
  )
}
