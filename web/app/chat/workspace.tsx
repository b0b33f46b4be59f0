import type { JSX } from 'react'
import { areFirstRecoveryCodesExpected } from '#web/data/account/first-recovery-codes.ts'
import { DropAnywhere } from '#web/features/library/drop-anywhere.tsx'
import { LateUploads } from '#web/features/library/late-uploads.tsx'
import { UploadArea } from '#web/features/library/library-parts.ts'
import { loadable } from '#web/ui/loadable.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { useMediaQuery } from '#web/ui/use-media-query.ts'
import { LateStorageNotice } from '#web/app/late-storage-notice.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { ConversationView } from './conversation-view.tsx'
import { UnknownConversation } from './empty-states.tsx'
import { HeaderBar } from './header-bar.tsx'
import { NavigationPanel } from './navigation-panel.tsx'
import { NavigationContext } from './navigation.tsx'
import { Palette } from './palette.tsx'
import { MAIN_ID, SkipLink } from './skip-link.tsx'
import { StartView } from './start-view.tsx'
import { useAfterFirstReads } from './use-after-first-reads.ts'
import { useElementWidth } from './use-element-width.ts'
import { useWorkspace } from './use-workspace.ts'
import { ViewerColumn } from './viewer-column.tsx'
import styles from './workspace.module.css'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { addingRefusal } from '#web/data/spaces/space-rights.ts'
import { LiveSpaces, NewSpaceDialog } from './late-chunk-parts.ts'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'

const DebugPanel = loadable(() => import('#web/features/debug/debug-panel.tsx'))

const FirstRecoveryCodes = loadable(() => import('#web/features/account/first-recovery-codes.tsx'))

/** The main column has room for margin notes from this width on. */
const MARGIN_NOTES_FROM_PX = 880

export function Workspace(): JSX.Element {
  const { userId, route, viewer, panel, palette, debug, navigation, newSpace, ...workspace } = useWorkspace()
  const isViewThere = useAfterFirstReads()
  const areSpacesDue = isViewThere || route.spaceId !== null
  const [mainRef, mainWidth] = useElementWidth()
  const hasViewerColumn = useMediaQuery('(width >= 1280px)')
  return (
    <NavigationContext value={navigation}>
      <DropAnywhere refusal={addingRefusal(useCurrentSpace())}>
        <div className={styles.workspace}>
          <SkipLink />
          <NavigationPanel
            panel={panel}
            userId={userId}
            activeId={route.chatId}
            onDeleted={workspace.leaveDeletedChat}
          />
          <div className={styles.middle}>
            <HeaderBar
              onOpenDrawer={panel.isCompact ? () => panel.setDrawerOpen(true) : null}
              onSearch={() => palette.setOpen(true)}
            />
            <ConnectionNotice />
            <LateStorageNotice isSigningIn={false} />
            <LateUploads onAddedToQuestion={workspace.nameAddedDocuments} />
            <main
              ref={mainRef}
              id={MAIN_ID}
              className={classNames(styles.main, mainWidth >= MARGIN_NOTES_FROM_PX && styles.withNotes)}
            >
              <MainView
                {...workspace}
                route={route}
                panel={panel}
                navigation={navigation}
                marginNotes={mainWidth >= MARGIN_NOTES_FROM_PX}
              />
            </main>
          </div>
          <ViewerColumn route={route} viewer={viewer} beside={hasViewerColumn} />
          {areFirstRecoveryCodesExpected() && <FirstRecoveryCodes />}
          {areSpacesDue && (
            <ErrorBoundary isQuiet>
              <LiveSpaces
                route={route}
                onLost={() => {
                  workspace.leaveSpace()
                  newSpace.close()
                }}
              />
            </ErrorBoundary>
          )}
          {newSpace.isOpen && (
            <NewSpaceDialog uploadArea={<UploadArea />} onCreated={navigation.openSpace} onClose={newSpace.close} />
          )}
          <Palette palette={palette} />
          {debug.open && <DebugPanel userId={userId} chatId={route.chatId} onClose={debug.close} />}
        </div>
      </DropAnywhere>
    </NavigationContext>
  )
}

type MainViewProps = Pick<
  ReturnType<typeof useWorkspace>,
  'route' | 'panel' | 'navigation' | 'chat' | 'unknown' | 'draft' | 'onboardingHidden'
> & { marginNotes: boolean }

function MainView(props: MainViewProps): JSX.Element {
  const { route, panel, navigation, chat, unknown, draft } = props
  const { chatId } = route
  if (chatId !== null)
    return (
      <ConversationView
        key={chatId}
        id={chatId}
        marginNotes={props.marginNotes}
        source={route.source}
        filled={draft.filled}
        onSend={chat.send}
        onRetry={() => chat.retry(chatId)}
        onStop={() => chat.stop(chatId)}
        onUnknown={unknown.leave}
      />
    )
  const isHistoryVisible = !panel.isCompact && panel.tab === 'chat'
  return (
    <StartView
      notice={
        unknown.isUnknown && (
          <UnknownConversation
            onNewChat={navigation.newChat}
            onOpenHistory={isHistoryVisible ? null : () => navigation.openPanel('chat')}
          />
        )
      }
      onboardingHidden={props.onboardingHidden}
      filled={draft.filled}
      onFill={draft.fillNew}
      onSend={(text) => {
        unknown.dismiss()
        chat.send(text)
      }}
    />
  )
}
