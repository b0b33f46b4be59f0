import { PanelLeftClose, Plus, Search, X } from 'lucide-react'
import { useEffect, useId, useRef, useState, type JSX } from 'react'
import type { ListedConversation } from '#contract/conversation.ts'
import { conversationList } from '#web/data/conversations.ts'
import { useSpace } from '#web/data/current-space.ts'
import { useModelLabel } from '#web/data/models.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { mayChangeConversation, mayDeleteConversation } from '#web/data/spaces/space-rights.ts'
import { usePagedList } from '#web/data/use-paged-list.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import { VirtualRows } from '#web/ui/virtual-rows.tsx'
import { ConversationItem } from './conversation-item.tsx'
import styles from './history-panel.module.css'
import { useConversationActions } from './use-conversation-actions.ts'

/** Pixels; drawn rows are measured. */
const ROW_HEIGHT = 55

export type HistoryPanelProps = {
  userId: string
  activeId: string | null
  onSelect: (id: string) => void
  onNewChat: () => void
  onDeleted: (id: string) => void
  onCollapse: () => void
}

export function HistoryPanel(props: HistoryPanelProps): JSX.Element {
  const [search, setSearch] = useState('')
  const box = useRef<HTMLInputElement>(null)
  return (
    <section className={styles.panel} aria-label="Chat history">
      <header className={styles.header}>
        <h2 className={styles.heading}>Chat History</h2>
        <Tooltip content="New chat">
          <Button variant="ghost" size="icon" aria-label="New chat" onClick={props.onNewChat}>
            <Plus size={18} />
          </Button>
        </Tooltip>
        <Tooltip content="Collapse panel">
          <Button variant="ghost" size="icon" aria-label="Collapse panel" onClick={props.onCollapse}>
            <PanelLeftClose size={18} />
          </Button>
        </Tooltip>
      </header>
      <div className={styles.search}>
        <Search size={15} aria-hidden />
        <input
          ref={box}
          type="search"
          aria-label="Search conversations"
          placeholder="Search conversations..."
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        {search !== '' && (
          <Button
            variant="ghost"
            size="icon"
            className={styles.clear}
            aria-label="Clear search"
            onClick={() => {
              setSearch('')
              box.current?.focus()
            }}
          >
            <X size={14} />
          </Button>
        )}
      </div>
      <HistoryList {...props} search={search} />
    </section>
  )
}

function HistoryList(props: HistoryPanelProps & { search: string }): JSX.Element {
  const search = props.search.trim()
  const conversations = usePagedList(conversationList, { userId: props.userId, space: useSpace(), search })
  const { rows, hasMore } = conversations
  const actions = useConversationActions(props.userId, props.onDeleted)
  const [asked, setAsked] = useState<ListedConversation | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const removing = useRef(false)
  const moving = useRef<string | null>(null)

  // A removed row loses the focus; the list takes it for the keyboard.
  useEffect(() => {
    if (removing.current && document.activeElement === document.body) list.current?.focus()
    removing.current = false
  }, [rows.length])

  // A pinned or unpinned row is a new element in the other section, which may be drawn later.
  const giveFocusBack = (id: string, button: HTMLButtonElement | null): void => {
    if (button === null || moving.current !== id || document.activeElement !== document.body) return
    moving.current = null
    button.focus()
  }

  if (conversations.isPending) {
    return (
      <p className={styles.state} role="status">
        <Spinner /> Loading conversations...
      </p>
    )
  }
  if (conversations.isError && rows.length === 0) {
    return (
      <div className={styles.state} role="alert">
        <p>Failed to load conversations</p>
        <Button variant="outline" size="sm" onClick={() => location.reload()}>
          Try again
        </Button>
      </div>
    )
  }
  if (rows.length === 0 && search === '') {
    return (
      <div className={styles.state}>
        <p className={styles.strong}>No conversations yet</p>
        <p>Start a new chat to get started</p>
        <Button variant="outline" size="sm" onClick={props.onNewChat}>
          New Chat
        </Button>
      </div>
    )
  }
  const pinned = rows.filter((row) => row.pinned)
  const sectionOf = (title: string, shown: ListedConversation[], isLast: boolean): JSX.Element | null =>
    shown.length === 0 ? null : (
      <Section
        title={title}
        rows={shown}
        hasMore={isLast && hasMore}
        onNearEnd={conversations.failedToReadMore ? undefined : conversations.readMore}
        activeId={props.activeId}
        userId={props.userId}
        onSelect={props.onSelect}
        onPin={(row) => {
          moving.current = row.id
          actions.setPinned(row, !row.pinned)
        }}
        onPinDrawn={giveFocusBack}
        onDelete={setAsked}
      />
    )
  return (
    <>
      <div ref={list} tabIndex={-1} className={styles.list} aria-busy={conversations.isOutdated}>
        {sectionOf('Pinned Conversations', pinned, pinned.length === rows.length)}
        {sectionOf(
          'Conversations',
          rows.filter((row) => !row.pinned),
          true,
        )}
        {rows.length === 0 && <p className={styles.state}>No conversation matches “{props.search}”.</p>}
        {conversations.failedToReadMore && (
          <div className={styles.state} role="alert">
            <p>Failed to load older conversations</p>
            <Button variant="outline" size="sm" onClick={conversations.readMore}>
              Try again
            </Button>
          </div>
        )}
      </div>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => {
          if (!open) setAsked(null)
        }}
        title="Delete Conversation"
        description="Are you sure you want to delete this conversation? This action cannot be undone and all messages will be permanently removed."
        confirmLabel="Delete"
        onConfirm={() => {
          if (asked === null) return
          removing.current = true
          actions.remove(asked)
        }}
      />
    </>
  )
}

type SectionProps = {
  title: string
  rows: readonly ListedConversation[]
  hasMore: boolean
  onNearEnd: (() => void) | undefined
  activeId: string | null
  userId: string
  onSelect: (id: string) => void
  onPin: (row: ListedConversation) => void
  onPinDrawn: (id: string, button: HTMLButtonElement | null) => void
  onDelete: (row: ListedConversation) => void
}

function Section(props: SectionProps): JSX.Element {
  const { title, rows, hasMore, onNearEnd, activeId, userId, onSelect, onPin, onPinDrawn, onDelete } = props
  const id = useId()
  const modelLabel = useModelLabel()
  const space = useCurrentSpace()
  return (
    <section aria-labelledby={id} className={styles.section}>
      <h3 id={id} className={styles.sectionTitle}>
        {title}
      </h3>
      <VirtualRows
        rows={rows}
        keyOf={(row) => row.id}
        estimatedHeight={ROW_HEIGHT}
        hasMore={hasMore}
        onNearEnd={onNearEnd}
      >
        {(row, item) => (
          <ConversationItem
            key={row.id}
            conversation={row}
            item={item}
            description={modelLabel(row.model_name)}
            active={row.id === activeId}
            mayPin={mayChangeConversation(row, space, userId)}
            mayDelete={mayDeleteConversation(row, space, userId)}
            onSelect={() => onSelect(row.id)}
            onPin={() => onPin(row)}
            onPinDrawn={(button) => onPinDrawn(row.id, button)}
            onDelete={() => onDelete(row)}
          />
        )}
      </VirtualRows>
    </section>
  )
}
