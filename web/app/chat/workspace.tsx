import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState, type JSX } from 'react'
import { useUser } from '#web/data/auth-context.tsx'
import { forgetDrafts, restoreDraft, storeDraft } from '#web/data/drafts.ts'
import { followAccount } from '#web/data/live.ts'
import { onSessionEvent } from '#web/data/session.ts'
import { clearTemporary, resetThreads, setExternalConversation } from '#web/data/thread-store.ts'
import type { FilledDraft } from '#web/features/composer/composer.tsx'
import { useDebugShortcut } from '#web/features/debug/use-debug-shortcut.ts'
import { DropAnywhere } from '#web/features/library/drop-anywhere.tsx'
import { forgetRecordings } from '#web/features/voice/recording-store.ts'
import { classNames } from '#web/ui/class-names.ts'
import { Sheet } from '#web/ui/sheet.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useMediaQuery } from '#web/ui/use-media-query.ts'
import { ConversationView } from './conversation-view.tsx'
import { HeaderBar } from './header-bar.tsx'
import { Rail, type RailTab } from './rail.tsx'
import { ReaderColumn } from './reader-column.tsx'
import { SidePanel } from './side-panel.tsx'
import { StartView } from './start-view.tsx'
import { useChatFlows } from './use-chat-flows.ts'
import { usePlace } from './use-place.ts'
import { useReader } from './use-reader.ts'
import { useWidth } from './use-width.ts'
import styles from './workspace.module.css'

const DebugPanel = lazy(() => import('#web/features/debug/debug-panel.tsx'))

/** The main column holds text and margin notes from this width on. */
const MARGIN_NOTES_FROM_PX = 880

/** The chat page: rail and panel, the conversation, and the open document. */
export function Workspace(): JSX.Element {
  const user = useUser()
  const queryClient = useQueryClient()
  const place = usePlace()
  const reader = useReader(place)
  const [tab, setTab] = useState<RailTab | null>('chat')
  const [drawerOpen, setDrawerOpen] = useState(false)
  const [onboardingHidden, setOnboardingHidden] = useState(place.chatId !== null)
  const [filled, setFilled] = useState<FilledDraft | null>(null)
  const [mainRef, mainWidth] = useWidth()
  const compact = useMediaQuery('(width < 900px)')
  const readerBeside = useMediaQuery('(width >= 1280px)')
  const marginNotes = mainWidth >= MARGIN_NOTES_FROM_PX

  useEffect(() => followAccount(queryClient, user.id), [queryClient, user.id])
  useEffect(
    () =>
      onSessionEvent((event) => {
        if (event === 'SIGNED_OUT') forgetDrafts()
      }),
    [],
  )
  useEffect(() => resetThreads, [])
  useEffect(() => forgetRecordings, [])
  const debug = useDebugShortcut()

  const fill = (conversationId: string | null, text: string): void =>
    setFilled((before) => ({ key: (before?.key ?? 0) + 1, conversationId, text }))
  const fillNew = (text: string): void => {
    storeDraft(null, text)
    fill(null, text)
  }
  const flows = useChatFlows(place, (conversationId, text) => fill(conversationId, restoreDraft(conversationId, text)))

  const newChat = (): void => {
    setExternalConversation(null)
    setOnboardingHidden(true)
    setDrawerOpen(false)
    place.go({ chatId: null })
  }
  const selectChat = (id: string): void => {
    clearTemporary()
    setOnboardingHidden(true)
    setDrawerOpen(false)
    place.go({ chatId: id })
  }
  const afterDelete = (id: string): void => {
    if (id !== place.chatId) return
    setExternalConversation(null)
    place.go({ chatId: null })
    toast({ title: 'Chat deleted', description: 'Starting a new conversation' })
  }
  const { go } = place
  const leaveUnknown = useCallback(() => go({ chatId: null, documentId: null, page: 1 }, { replace: true }), [go])

  const navigation = (open: RailTab | null, onToggle: (tab: RailTab) => void, onCollapse: () => void): JSX.Element => (
    <>
      <Rail open={open} onNewChat={newChat} onToggle={onToggle} />
      {open !== null && (
        <SidePanel
          tab={open}
          onOpenDocument={(id) => {
            setDrawerOpen(false)
            reader.openDocument(id)
          }}
          history={{
            userId: user.id,
            activeId: place.chatId,
            onSelect: selectChat,
            onNewChat: newChat,
            onDeleted: afterDelete,
            onCollapse,
          }}
        />
      )}
    </>
  )

  return (
    <DropAnywhere>
      <div className={styles.workspace}>
        {!compact &&
          navigation(
            tab,
            (pressed) => setTab(pressed === tab ? null : pressed),
            () => setTab(null),
          )}
        {compact && (
          <Sheet open={drawerOpen} onOpenChange={setDrawerOpen} label="Navigation" side="left">
            {navigation(tab ?? 'chat', setTab, () => setDrawerOpen(false))}
          </Sheet>
        )}
        <div className={styles.middle}>
          <HeaderBar onOpenDrawer={compact ? () => setDrawerOpen(true) : null} />
          <main ref={mainRef} className={classNames(styles.main, marginNotes && styles.withNotes)}>
            {place.chatId === null ? (
              <StartView
                onboardingHidden={onboardingHidden}
                filled={filled}
                onFill={fillNew}
                onNewChat={newChat}
                onSend={flows.send}
                onOpenDocument={reader.openDocument}
              />
            ) : (
              <ConversationView
                key={place.chatId}
                id={place.chatId}
                marginNotes={marginNotes}
                filled={filled}
                onOpenSource={reader.openSource}
                onSend={flows.send}
                onRetry={() => place.chatId !== null && flows.retry(place.chatId)}
                onStop={() => place.chatId !== null && flows.stop(place.chatId)}
                onUnknown={leaveUnknown}
              />
            )}
          </main>
        </div>
        <ReaderColumn place={place} reader={reader} beside={readerBeside} />
        {debug.open && (
          <Suspense>
            <DebugPanel userId={user.id} chatId={place.chatId} onClose={debug.close} />
          </Suspense>
        )}
      </div>
    </DropAnywhere>
  )
}
