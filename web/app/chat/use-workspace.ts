import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { followAccount } from '#web/data/channels/account-channel.ts'
import { readDraft, storeDraft, type DraftId } from '#web/data/drafts.ts'
import { moveRecordings, restoreRecordings } from '#web/data/recordings.ts'
import { sentQuestionKeys } from '#web/data/sent-questions.ts'
import { followPageSettings } from '#web/data/settings.ts'
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
    () => route.chatId !== null || readDraft(userId, route.spaceId) !== '',
  )
  const { filled, fill, fillNew, restore } = useFilledDraft(userId, route.spaceId)

  useEffect(() => followAccount(queryClient, userId), [queryClient, userId])
  useEffect(() => resetThreadStore, [])
  useEffect(followPageSettings, [])
  // Another person may sign in on this page.
  useEffect(() => forgetSpaces, [])
  useEffect(() => restoreRecordings(userId), [userId])
  useVisibleHeight()
  const debug = useDebugShortcut()
  const palette = usePalette()

  const chat = useChatActions(route, restore)
  const { chatId, spaceId } = route
  /** The onboarding card would take the place of the message box. */
  const restoreShown = useCallback(
    (draftId: DraftId, text: string): void => {
      setOnboardingHidden(true)
      restore(draftId, text)
    },
    [restore],
  )
  const moveDraft = useCallback(
    (from: DraftId, to: DraftId): void => {
      const draft = readDraft(userId, from)
      if (from === to || draft === '') return
      storeDraft(userId, from, '')
      restoreShown(to, draft)
    },
    [userId, restoreShown],
  )
  /** Puts what was typed in a conversation that closes into the box of a new one. */
  const leaveChat = useCallback(() => {
    moveDraft(chatId, spaceId)
    if (chatId !== null) moveRecordings(userId, chatId, null)
  }, [moveDraft, userId, chatId, spaceId])
  const unknown = useUnknownConversation(route.navigate, userId, leaveChat)
  const print = usePrinting(route)
  const putBackLeft = useEffectEvent(async (): Promise<void> => {
    if (sentQuestionKeys(userId).length === 0) return
    const { putBackQuestions } = await import('./left-questions.ts')
    const shown = chatId ?? spaceId
    await putBackQuestions(queryClient, userId, {
      restore: (draftId, text) => (draftId === shown ? restoreShown : restore)(draftId, text),
      fill,
    })
  })
  useEffect(() => {
    putBackLeft().catch((error: unknown) => console.error('What was being sent is not known', error))
  }, [userId])
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
    /** Puts what was typed in a space that closes into the box of a new personal conversation. */
    leaveSpace: (): void => {
      if (chatId !== null) moveDraft(chatId, null)
      if (chatId !== null) moveRecordings(userId, chatId, null)
      moveDraft(spaceId, null)
    },
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
