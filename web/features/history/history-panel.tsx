import { useQuery } from '@tanstack/react-query'
import { PanelLeftClose, Plus, Search, X } from 'lucide-react'
import { useEffect, useId, useRef, useState, type JSX } from 'react'
import type { ConversationRow } from '#contract/conversation.ts'
import { conversationsQuery } from '#web/data/conversations.ts'
import { useModelLabel } from '#web/data/models.ts'
import { describeBranch, listTitle, matchesSearch } from '#web/lib/messages/conversation-labels.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import { ConversationItem } from './conversation-item.tsx'
import styles from './history-panel.module.css'
import { useConversationActions } from './use-conversation-actions.ts'

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
  const conversations = useQuery(conversationsQuery(props.userId))
  const actions = useConversationActions(props.userId, props.onDeleted)
  const modelLabel = useModelLabel()
  const [asked, setAsked] = useState<ConversationRow | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const removing = useRef(false)
  const moving = useRef<string | null>(null)

  // A removed row loses the focus; the list takes it for the keyboard.
  const count = conversations.data?.length
  useEffect(() => {
    if (removing.current && document.activeElement === document.body) list.current?.focus()
    removing.current = false
  }, [count])

  // A pinned or unpinned row is a new element in the other section.
  useEffect(() => {
    if (moving.current === null || document.activeElement !== document.body) return
    list.current?.querySelector<HTMLElement>(`[data-pins="${moving.current}"]`)?.focus()
    moving.current = null
  }, [conversations.data])

  if (conversations.isPending) {
    return (
      <p className={styles.state} role="status">
        <Spinner /> Loading conversations...
      </p>
    )
  }
  if (conversations.data === undefined) {
    return (
      <div className={styles.state} role="alert">
        <p>Failed to load conversations</p>
        <Button variant="outline" size="sm" onClick={() => location.reload()}>
          Try again
        </Button>
      </div>
    )
  }
  if (conversations.data.length === 0) {
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
  const found = conversations.data.filter((row) =>
    matchesSearch([listTitle(row), modelLabel(row.model_name)], props.search),
  )
  const sectionOf = (title: string, rows: ConversationRow[]): JSX.Element | null =>
    rows.length === 0 ? null : (
      <Section title={title}>
        {rows.map((row) => (
          <ConversationItem
            key={row.id}
            conversation={row}
            description={modelLabel(row.model_name)}
            branch={describeBranch(row, conversations.data)}
            active={row.id === props.activeId}
            onSelect={() => props.onSelect(row.id)}
            onPin={() => {
              moving.current = row.id
              actions.setPinned(row, !row.pinned)
            }}
            onDelete={() => setAsked(row)}
          />
        ))}
      </Section>
    )
  return (
    <>
      <div ref={list} tabIndex={-1} className={styles.list}>
        {sectionOf(
          'Pinned Conversations',
          found.filter((row) => row.pinned),
        )}
        {sectionOf(
          'Conversations',
          found.filter((row) => !row.pinned),
        )}
        {found.length === 0 && <p className={styles.state}>No conversation matches “{props.search}”.</p>}
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

function Section({ title, children }: { title: string; children: JSX.Element[] }): JSX.Element {
  const id = useId()
  return (
    <section aria-labelledby={id} className={styles.section}>
      <h3 id={id} className={styles.sectionTitle}>
        {title}
      </h3>
      <ul>{children}</ul>
    </section>
  )
}
