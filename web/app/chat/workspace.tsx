import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useState, type JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { isPassageSource } from '#contract/source.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { readDraft, restoreDraft, storeDraft } from '#web/data/drafts.ts'
import { areFirstCodesExpected } from '#web/data/account/first-recovery-codes.ts'
import { followAccount } from '#web/data/live/live.ts'
import { recallRecordings } from '#web/data/recordings.ts'
import { aimAtMessage, type TargetMessage } from '#web/data/target-message.ts'
import { clearTemporary, resetThreads, setExternalConversation } from '#web/data/thread-store.ts'
import type { FilledDraft } from '#web/features/composer/composer.tsx'
import { useDebugShortcut } from '#web/features/debug/use-debug-shortcut.ts'
import { DropAnywhere } from '#web/features/library/drop-anywhere.tsx'
import { UploadTray } from '#web/features/library/upload-tray.tsx'
import type { OpenSource } from '#web/features/thread/message/assistant-message.tsx'
import { askOfDocuments } from '#web/lib/documents/document-names.ts'
import { namesNoConversation, NO_DOCUMENT, type Place } from '#web/lib/route-state.ts'
import { classNames } from '#web/ui/class-names.ts'
import { Sheet } from '#web/ui/sheet.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useMediaQuery } from '#web/ui/use-media-query.ts'
import { ConnectionLine } from './connection-notice.tsx'
import { ConversationView } from './conversation-view.tsx'
import { UnknownConversation } from './empty-states.tsx'
import { HeaderBar } from './header-bar.tsx'
import { Palette } from './palette.tsx'
import { Rail, type RailTab, tabButtonId } from './rail.tsx'
import { SidePanel } from './side-panel.tsx'
import { StartView } from './start-view.tsx'
import { useChatFlows } from './use-chat-actions.ts'
import { usePalette } from './use-palette.ts'
import { useQuestionFiles } from './use-named-documents.ts'
import { usePlace } from './use-route-state.ts'
import { useReader } from './use-viewer.ts'
import { useVisibleHeight } from './use-visible-height.ts'
import { useWidth } from './use-element-width.ts'
import { ReaderColumn } from './viewer-column.tsx'
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
  const place = usePlace()
  const reader = useReader(place)
  const [tab, setTab] = useState<RailTab | null>('chat')
  const [drawerOpen, setDrawerOpen] = useState(false)
  /** What was typed before a reload waits in the box, whose place the card would take. */
  const [onboardingHidden, setOnboardingHidden] = useState(
    () => place.chatId !== null || readDraft(user.id, null) !== '',
  )
  const [isUnknown, setUnknown] = useState(() => namesNoConversation(location.search))
  const [filled, setFilled] = useState<FilledDraft | null>(null)
  const [mainRef, mainWidth] = useWidth()
  const compact = useMediaQuery('(width < 900px)')
  const readerBeside = useMediaQuery('(width >= 1280px)')
  const marginNotes = mainWidth >= MARGIN_NOTES_FROM_PX

  useEffect(() => followAccount(queryClient, user.id), [queryClient, user.id])
  useEffect(() => resetThreads, [])
  useEffect(() => recallRecordings(user.id), [user.id])
  useVisibleHeight()
  const debug = useDebugShortcut()
  const palette = usePalette()

  const fill = (conversationId: string | null, text: string, { focus } = { focus: true }): void =>
    setFilled((before) => ({ key: (before?.key ?? 0) + 1, conversationId, text, focus }))
  const fillNew = (text: string): void => {
    storeDraft(user.id, null, text)
    fill(null, text)
  }
  const flows = useChatFlows(place, (conversationId, text) =>
    fill(conversationId, restoreDraft(user.id, conversationId, text)),
  )

  const newChat = (): void => {
    setExternalConversation(null)
    setOnboardingHidden(true)
    setUnknown(false)
    setDrawerOpen(false)
    place.go({ chatId: null, ...NO_DOCUMENT })
  }
  const leaveFor = (change: Partial<Place>): void => {
    clearTemporary()
    setOnboardingHidden(true)
    setUnknown(false)
    setDrawerOpen(false)
    place.go(change)
  }
  /** The document beside a conversation goes with it. */
  const selectChat = (id: string): void => leaveFor({ chatId: id, ...(id === place.chatId ? {} : NO_DOCUMENT) })
  /** A branch is about the same documents; its copy of the answer has an id of its own. */
  const openBranch = (id: string): void => leaveFor({ chatId: id, source: null })
  const openMessage = (target: TargetMessage): void => {
    selectChat(target.conversationId)
    aimAtMessage(target)
  }
  const openSource: OpenSource = ({ source, ...choice }) => {
    if (isPassageSource(source)) reader.openPassage({ source, ...choice })
    else {
      const { conversationId, messageId, position } = source
      openMessage({ conversationId, messageId, position })
    }
  }
  const afterDelete = (id: string): void => {
    if (id !== place.chatId) return
    place.go({ chatId: null, ...NO_DOCUMENT })
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
    reader.openDocument(id)
  }
  const askAbout = (documents: readonly DocumentRow[]): void => {
    newChat()
    fillNew(askOfDocuments(documents.map(({ filename }) => filename)))
  }
  const nameInQuestion = useQuestionFiles(place.chatId, fill)
  const askAboutAdded = (documents: readonly DocumentRow[]): void => {
    if (place.chatId !== null) nameInQuestion(place.chatId, documents)
  }
  const showIntroduction = (): void => {
    setOnboardingHidden(false)
    setUnknown(false)
    setDrawerOpen(false)
    place.go({ chatId: null, ...NO_DOCUMENT })
  }
  const { go } = place
  useEffect(() => {
    if (namesNoConversation(location.search)) go({}, { replace: true })
  }, [go])
  const leaveUnknown = useCallback(
    (wasDeleted: boolean) => {
      go({ chatId: null, ...NO_DOCUMENT }, { replace: true })
      if (wasDeleted) leaveDeleted()
      else setUnknown(true)
    },
    [go],
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
          <ConnectionLine />
          <UploadTray />
          <main ref={mainRef} id={MAIN_ID} className={classNames(styles.main, marginNotes && styles.withNotes)}>
            {place.chatId === null ? (
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
                onOpenDocument={reader.openDocument}
              />
            ) : (
              <ConversationView
                key={place.chatId}
                id={place.chatId}
                marginNotes={marginNotes}
                source={place.source}
                filled={filled}
                onOpenSource={openSource}
                onSend={flows.send}
                onRetry={() => place.chatId !== null && flows.retry(place.chatId)}
                onStop={() => place.chatId !== null && flows.stop(place.chatId)}
                onOpenChat={selectChat}
                onBranched={openBranch}
                onUnknown={leaveUnknown}
                onOpenSettings={openSettings}
              />
            )}
          </main>
        </div>
        <ReaderColumn place={place} reader={reader} beside={readerBeside} />
        {areFirstCodesExpected() && (
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
            reader.openFound(passage)
          }}
        />
        {debug.open && (
          <Suspense>
            <DebugPanel userId={user.id} chatId={place.chatId} onClose={debug.close} />
          </Suspense>
        )}
      </div>
    </DropAnywhere>
  )
}
