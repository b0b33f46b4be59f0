import { useCallback } from 'react'
import { isPassageSource } from '#contract/source.ts'
import type { Space } from '#web/data/current-space.ts'
import { setOwnDocuments } from '#web/data/spaces/own-documents.ts'
import { setTargetMessage } from '#web/data/target-message.ts'
import { clearTemporaryMessages, setExternalConversation } from '#web/data/thread-store.ts'
import { addDocumentNames } from '#web/lib/documents/document-names.ts'
import { NO_DOCUMENT, type RouteState } from '#web/lib/route-state.ts'
import type { Navigation } from './navigation.tsx'
import type { Panel } from './use-panel.ts'
import type { RouteControl } from './use-route-state.ts'
import type { Viewer } from './use-viewer.ts'

type NavigationOptions = {
  route: RouteControl
  viewer: Viewer
  panel: Panel
  setOnboardingHidden: (hidden: boolean) => void
  dismissUnknown: () => void
  fillNew: (text: string) => void
}

export function useNavigationActions(
  options: NavigationOptions,
): Omit<Navigation, 'print' | 'newSpace' | 'isMakingSpace'> {
  const { route, viewer, panel, setOnboardingHidden, dismissUnknown, fillNew } = options
  const { open: openPanel, setDrawerOpen } = panel
  const openSettings = useCallback(() => openPanel('settings'), [openPanel])

  const showStart = ({ onboardingHidden }: { onboardingHidden: boolean }): void => {
    setOnboardingHidden(onboardingHidden)
    dismissUnknown()
    setDrawerOpen(false)
    route.navigate({ chatId: null, ...NO_DOCUMENT })
  }
  const newChat = (): void => {
    setExternalConversation(null)
    showStart({ onboardingHidden: true })
  }
  const openConversation = (change: Partial<RouteState>): void => {
    clearTemporaryMessages()
    setOnboardingHidden(true)
    dismissUnknown()
    setDrawerOpen(false)
    route.navigate(change)
  }
  /** Another conversation closes the document of the one before. */
  const selectChat = (id: string): void => openConversation({ chatId: id, ...(id === route.chatId ? {} : NO_DOCUMENT) })
  const openMessage: Navigation['openMessage'] = (target) => {
    selectChat(target.conversationId)
    setTargetMessage(target)
  }

  const openSpace = (space: Space): void => {
    setExternalConversation(null)
    setOwnDocuments(null, false)
    setOnboardingHidden(true)
    dismissUnknown()
    setDrawerOpen(false)
    route.navigate({ spaceId: space, chatId: null, ...NO_DOCUMENT })
  }

  return {
    openSpace,
    newChat,
    selectChat,
    // A branch keeps the document open. Its copy of the cited answer has another id, so the source is dropped.
    openBranch: (id) => openConversation({ chatId: id, source: null }),
    openMessage,
    openSource: ({ source, ...choice }) => {
      if (isPassageSource(source)) return viewer.openPassage({ source, ...choice })
      const { conversationId, messageId, position } = source
      openMessage({ conversationId, messageId, position })
    },
    openDocument: (id) => {
      setDrawerOpen(false)
      viewer.openDocument(id)
    },
    openPassage: (passage) => {
      setDrawerOpen(false)
      viewer.openFound(passage)
    },
    openPanel,
    openSettings,
    showIntroduction: () => showStart({ onboardingHidden: false }),
    askAbout: (documents) => {
      newChat()
      fillNew(addDocumentNames(documents.map(({ filename }) => filename)))
    },
  }
}
