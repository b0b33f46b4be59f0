import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { readDraft, storeDraft } from '#web/data/drafts.ts'
import { followAccount } from '#web/data/live/account-channel.ts'
import { restoreRecordings } from '#web/data/recordings.ts'
import { forgetSpaces } from '#web/data/spaces/forget-spaces.ts'
import { resetThreadStore } from '#web/data/thread-store.ts'
import { useDebugShortcut } from '#web/features/debug/use-debug-shortcut.ts'
import { NO_DOCUMENT } from '#web/lib/route-state.ts'
import type { Navigation } from './navigation.tsx'
import { useChatActions } from './use-chat-actions.ts'
import { useFilledDraft } from './use-filled-draft.ts'
import { useNamedDocuments } from './use-named-documents.ts'
import { useNavigationActions } from './use-navigation-actions.ts'
import { usePalette } from './use-palette.ts'
import { usePanel } from './use-panel.ts'
import { usePrinting } from './use-printing.ts'
import { useRouteState } from './use-route-state.ts'
import { announceDeletedConversation, useUnknownConversation } from './use-unknown-conversation.ts'
import { useViewer } from './use-viewer.ts'
import { useVisibleHeight } from './use-visible-height.ts'

export function useWorkspace() {
  const { id: userId } = useUser()
  const queryClient = useQueryClient()
  const route = useRouteState()
  const viewer = useViewer(route)
  const panel = usePanel()
  // A draft from before a reload is in the message box, which the onboarding card would replace.
  const [onboardingHidden, setOnboardingHidden] = useState(
    () => route.chatId !== null || readDraft(userId, null) !== '',
  )
  const { filled, fill, fillNew, restore } = useFilledDraft(userId)

  useEffect(() => followAccount(queryClient, userId), [queryClient, userId])
  useEffect(() => resetThreadStore, [])
  // Another person may sign in on this page.
  useEffect(() => forgetSpaces, [])
  useEffect(() => restoreRecordings(userId), [userId])
  useVisibleHeight()
  const debug = useDebugShortcut()
  const palette = usePalette()

  const chat = useChatActions(route, restore)
  /** Puts what was typed in a conversation that closes into the box of the new one. */
  const { chatId } = route
  const rescueDraft = useCallback((): void => {
    if (chatId === null) return
    const draft = readDraft(userId, chatId)
    if (draft === '') return
    storeDraft(userId, chatId, '')
    setOnboardingHidden(true)
    restore(null, draft)
  }, [userId, chatId, restore])
  const unknown = useUnknownConversation(route.navigate, userId, rescueDraft)
  const print = usePrinting(route)
  const actions = useNavigationActions({
    route,
    viewer,
    panel,
    setOnboardingHidden,
    dismissUnknown: unknown.dismiss,
    fillNew,
  })
  const [isMakingSpace, setMakingSpace] = useState(false)
  const navigation: Navigation = { ...actions, print, isMakingSpace, newSpace: () => setMakingSpace(true) }
  const nameInQuestion = useNamedDocuments(route.chatId, fill)

  return {
    userId,
    route,
    viewer,
    panel,
    palette,
    debug,
    navigation,
    chat,
    unknown,
    draft: { filled, fillNew },
    onboardingHidden,
    rescueDraft,
    newSpace: { isOpen: isMakingSpace, close: () => setMakingSpace(false) },
    nameAddedDocuments: (documents: readonly DocumentRow[]): void => {
      if (route.chatId !== null) nameInQuestion(route.chatId, documents)
    },
    leaveDeletedChat: (id: string): void => {
      if (id !== route.chatId) return
      route.navigate({ chatId: null, ...NO_DOCUMENT })
      announceDeletedConversation()
    },
  }
}
