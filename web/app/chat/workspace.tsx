import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState, type JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { isPassageSource } from '#contract/source.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { readDraft, restoreDraft, storeDraft } from '#web/data/drafts.ts'
import { areFirstRecoveryCodesExpected } from '#web/data/account/first-recovery-codes.ts'
import { followAccount } from '#web/data/live/account-channel.ts'
import { restoreRecordings } from '#web/data/recordings.ts'
import { setTargetMessage, type TargetMessage } from '#web/data/target-message.ts'
import { clearTemporaryMessages, resetThreadStore, setExternalConversation } from '#web/data/thread-store.ts'
import type { FilledDraft } from '#web/features/composer/composer.tsx'
import { useDebugShortcut } from '#web/features/debug/use-debug-shortcut.ts'
import { DropAnywhere } from '#web/features/library/drop-anywhere.tsx'
import { UploadTray } from '#web/features/library/upload-tray.tsx'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import { addDocumentNames } from '#web/lib/documents/document-names.ts'
import { hasInvalidConversationId, NO_DOCUMENT, type RouteState } from '#web/lib/route-state.ts'
import { classNames } from '#web/ui/class-names.ts'
import { Sheet } from '#web/ui/sheet.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useMediaQuery } from '#web/ui/use-media-query.ts'
import { ConnectionNotice } from './connection-notice.tsx'
import { ConversationView } from './conversation-view.tsx'
import { UnknownConversation } from './empty-states.tsx'
import { HeaderBar } from './header-bar.tsx'
import { Palette } from './palette.tsx'
import { Rail, type RailTab, tabButtonId } from './rail.tsx'
import { SidePanel } from './side-panel.tsx'
import { StartView } from './start-view.tsx'
import { useChatActions } from './use-chat-actions.ts'
import { usePalette } from './use-palette.ts'
import { useNamedDocuments } from './use-named-documents.ts'
import { useRouteState } from './use-route-state.ts'
import { useViewer } from './use-viewer.ts'
import { useVisibleHeight } from './use-visible-height.ts'
import { useElementWidth } from './use-element-width.ts'
import { ViewerColumn } from './viewer-column.tsx'
import styles from './workspace.module.css'

const DebugPanel = lazy(() => import('#web/features/debug/debug-panel.tsx'))

const FirstRecoveryCodes = lazy(() => import('#web/features/account/first-recovery-codes.tsx'))

/** The main column holds text and margin notes from this width on. */
const MARGIN_NOTES_FROM_PX = 880
const MAIN_ID = 'main'

/** For once: a press on its ground would take the focus from the page for good. */
function focusMain(): void {
  const main = document.getElementById(MAIN_ID)
  if (main === null) return
  main.tabIndex = -1
  main.addEventListener('blur', () => main.removeAttribute('tabindex'), { once: true })
  main.focus()
}

/** The open conversation is gone, deleted here or elsewhere. */
function leaveDeleted(): void {
  setExternalConversation(null)
  toast({ title: 'Chat deleted', description: 'Starting a new conversation' })
}

/** The chat page: rail and panel, the conversation, and the open document. */
export function Workspace(): JSX.Element {
  const user = useUser()
  const queryClient = useQueryClient()
  const route = useRouteState()
  const viewer = useViewer(route)
  const [tab, setTab] = useState<RailTab | null>('chat')
  const [drawerOpen, setDrawerOpen] = useState(false)
  /** What was typed before a reload waits in the box, whose place the card would take. */
  const [onboardingHidden, setOnboardingHidden] = useState(
    () => route.chatId !== null || readDraft(user.id, null) !== '',
  )
  const [isUnknown, setUnknown] = useState(() => hasInvalidConversationId(location.search))
  const [filled, setFilled] = useState<FilledDraft | null>(null)
  const [mainRef, mainWidth] = useElementWidth()
  const compact = useMediaQuery('(width < 900px)')
  const hasViewerColumn = useMediaQuery('(width >= 1280px)')
  const marginNotes = mainWidth >= MARGIN_NOTES_FROM_PX

  useEffect(() => followAccount(queryClient, user.id), [queryClient, user.id])
  useEffect(() => resetThreadStore, [])
  useEffect(() => restoreRecordings(user.id), [user.id])
  useVisibleHeight()
  const debug = useDebugShortcut()
  const palette = usePalette()

  const fill = (conversationId: string | null, text: string, { focus } = { focus: true }): void =>
    setFilled((before) => ({ key: (before?.key ?? 0) + 1, conversationId, text, focus }))
  const fillNew = (text: string): void => {
    storeDraft(user.id, null, text)
    fill(null, text)
  }
  const flows = useChatActions(route, (conversationId, text) =>
    fill(conversationId, restoreDraft(user.id, conversationId, text)),
  )

  const newChat = (): void => {
    setExternalConversation(null)
    setOnboardingHidden(true)
    setUnknown(false)
    setDrawerOpen(false)
    route.navigate({ chatId: null, ...NO_DOCUMENT })
  }
  const leaveFor = (change: Partial<RouteState>): void => {
    clearTemporaryMessages()
    setOnboardingHidden(true)
    setUnknown(false)
    setDrawerOpen(false)
    route.navigate(change)
  }
  /** The document beside a conversation goes with it. */
  const selectChat = (id: string): void => leaveFor({ chatId: id, ...(id === route.chatId ? {} : NO_DOCUMENT) })
  /** A branch is about the same documents; its copy of the answer has an id of its own. */
  const openBranch = (id: string): void => leaveFor({ chatId: id, source: null })
  const openMessage = (target: TargetMessage): void => {
    selectChat(target.conversationId)
    setTargetMessage(target)
  }
  const openSource: OpenSource = ({ source, ...choice }) => {
    if (isPassageSource(source)) viewer.openPassage({ source, ...choice })
    else {
      const { conversationId, messageId, position } = source
      openMessage({ conversationId, messageId, position })
    }
  }
  const afterDelete = (id: string): void => {
    if (id !== route.chatId) return
    route.navigate({ chatId: null, ...NO_DOCUMENT })
    leaveDeleted()
  }
  const openTab = useCallback(
    (wanted: RailTab): void => {
      setTab(wanted)
      setDrawerOpen(compact)
    },
    [compact],
  )
  const openSettings = useCallback(() => openTab('settings'), [openTab])
  /** Whoever collapses the panel with the keyboard goes on at the tab that opens it again. */
  const collapse = (): void => {
    const byKeyboard = document.activeElement?.matches(':focus-visible') === true
    setTab(null)
    if (byKeyboard) requestAnimationFrame(() => document.getElementById(tabButtonId(tab ?? 'chat'))?.focus())
  }
  const openDocument = (id: string): void => {
    setDrawerOpen(false)
    viewer.openDocument(id)
  }
  const askAbout = (documents: readonly DocumentRow[]): void => {
    newChat()
    fillNew(addDocumentNames(documents.map(({ filename }) => filename)))
  }
  const nameInQuestion = useNamedDocuments(route.chatId, fill)
  const askAboutAdded = (documents: readonly DocumentRow[]): void => {
    if (route.chatId !== null) nameInQuestion(route.chatId, documents)
  }
  const showIntroduction = (): void => {
    setOnboardingHidden(false)
    setUnknown(false)
    setDrawerOpen(false)
    route.navigate({ chatId: null, ...NO_DOCUMENT })
  }
  const { navigate } = route
  useEffect(() => {
    if (hasInvalidConversationId(location.search)) navigate({}, { replace: true })
  }, [navigate])
  const leaveUnknown = useCallback(
    (wasDeleted: boolean) => {
      navigate({ chatId: null, ...NO_DOCUMENT }, { replace: true })
      if (wasDeleted) leaveDeleted()
      else setUnknown(true)
    },
    [navigate],
  )

  const navigation = (open: RailTab | null, onToggle: (tab: RailTab) => void, onCollapse: () => void): JSX.Element => (
    <>
      <Rail open={open} onNewChat={newChat} onToggle={onToggle} />
      {open !== null && (
        <SidePanel
          tab={open}
          onOpenDocument={openDocument}
          onAskAbout={askAbout}
          onShowIntroduction={showIntroduction}
          history={{
            userId: user.id,
            activeId: route.chatId,
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
    <DropAnywhere onAddedToQuestion={askAboutAdded}>
      <div className={styles.workspace}>
        <a
          href={`#${MAIN_ID}`}
          className={styles.skip}
          onClick={(event) => {
            event.preventDefault()
            focusMain()
          }}
        >
          Skip to the conversation
        </a>
        {!compact && navigation(tab, (pressed) => setTab(pressed === tab ? null : pressed), collapse)}
        {compact && (
          <Sheet open={drawerOpen} onOpenChange={setDrawerOpen} label="Navigation" side="left">
            {navigation(tab ?? 'chat', setTab, () => setDrawerOpen(false))}
          </Sheet>
        )}
        <div className={styles.middle}>
          <HeaderBar
            onOpenDrawer={compact ? () => setDrawerOpen(true) : null}
            onSearch={() => palette.setOpen(true)}
            onOpenSettings={openSettings}
          />
          <ConnectionNotice />
          <UploadTray />
          <main ref={mainRef} id={MAIN_ID} className={classNames(styles.main, marginNotes && styles.withNotes)}>
            {route.chatId === null ? (
              <StartView
                notice={
                  isUnknown && (
                    <UnknownConversation
                      onNewChat={newChat}
                      onOpenHistory={compact || tab !== 'chat' ? () => openTab('chat') : null}
                    />
                  )
                }
                onboardingHidden={onboardingHidden}
                filled={filled}
                onFill={fillNew}
                onNewChat={newChat}
                onSend={(text) => {
                  setUnknown(false)
                  flows.send(text)
                }}
                onOpenDocument={viewer.openDocument}
              />
            ) : (
              <ConversationView
                key={route.chatId}
                id={route.chatId}
                marginNotes={marginNotes}
                source={route.source}
                filled={filled}
                onOpenSource={openSource}
                onSend={flows.send}
                onRetry={() => route.chatId !== null && flows.retry(route.chatId)}
                onStop={() => route.chatId !== null && flows.stop(route.chatId)}
                onOpenChat={selectChat}
                onBranched={openBranch}
                onUnknown={leaveUnknown}
                onOpenSettings={openSettings}
              />
            )}
          </main>
        </div>
        <ViewerColumn route={route} viewer={viewer} beside={hasViewerColumn} />
        {areFirstRecoveryCodesExpected() && (
          <Suspense fallback={null}>
            <FirstRecoveryCodes />
          </Suspense>
        )}
        <Palette
          palette={palette}
          onNewChat={newChat}
          onOpenTab={openTab}
          onSelectChat={selectChat}
          onOpenMessage={openMessage}
          onOpenDocument={openDocument}
          onOpenPassage={(passage) => {
            setDrawerOpen(false)
            viewer.openFound(passage)
          }}
        />
        {debug.open && (
          <Suspense>
            <DebugPanel userId={user.id} chatId={route.chatId} onClose={debug.close} />
          </Suspense>
        )}
      </div>
    </DropAnywhere>
  )
}
