import { FileText, MessageSquare, MessagesSquare } from 'lucide-react'
import { Fragment, useRef, useState, type JSX } from 'react'
import { LONGEST_SEARCH, type FoundMessage, type FoundPassage, type SnippetPart } from '#contract/search.ts'
import { listTitle } from '#web/lib/conversation-words.ts'
import { describeFound } from '#web/lib/describe-document.ts'
import { formatDateLabel } from '#web/lib/format-date.ts'
import { CommandDialog, CommandGroup, CommandItem } from '#web/ui/command.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import type { PaletteAction } from './palette-action.ts'
import { useFindings } from './use-findings.ts'
import styles from './command-palette.module.css'

export type CommandPaletteProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  userId: string
  actions: readonly PaletteAction[]
  onOpenConversation: (id: string) => void
  onOpenMessage: (message: FoundMessage) => void
  onOpenDocument: (id: string) => void
  onOpenPassage: (passage: FoundPassage) => void
}

const withHits = (snippet: readonly SnippetPart[]): JSX.Element[] =>
  snippet.map(({ text, is_hit: isHit }, index) =>
    isHit ? (
      <mark key={index} className={styles.hit}>
        {text}
      </mark>
    ) : (
      <Fragment key={index}>{text}</Fragment>
    ),
  )

/** One box that finds conversations, what was said in them, documents and what can be done. */
export default function CommandPalette(props: CommandPaletteProps): JSX.Element {
  const [search, setSearch] = useState('')
  const { wanted, found, count, isSearching, failed } = useFindings(search, props)
  /** What was chosen; done once the palette is gone, so that it finds the focus where it was before. */
  const chosen = useRef<(() => void) | null>(null)

  const change = (open: boolean): void => {
    if (!open) setSearch('')
    props.onOpenChange(open)
  }
  const take = (run: () => void) => (): void => {
    chosen.current = run
    change(false)
  }

  return (
    <CommandDialog
      open={props.open}
      onOpenChange={change}
      label="Search and commands"
      placeholder="Find chats, documents, actions…"
      search={search}
      onSearch={(typed) => setSearch(typed.slice(0, LONGEST_SEARCH))}
      onClosed={() => {
        chosen.current?.()
        chosen.current = null
      }}
      state={
        <>
          {failed.map((sentence) => (
            <p key={sentence} className={styles.state}>
              {sentence}
            </p>
          ))}
          {count === 0 && !isSearching && failed.length === 0 && (
            <p className={styles.state}>Nothing found for “{wanted}”.</p>
          )}
          <p role="status" className={hidden.hidden}>
            {isSearching ? '' : `${count} ${count === 1 ? 'result' : 'results'}`}
          </p>
        </>
      }
      footer={
        <p className={styles.footer}>
          <span>
            <kbd>↑</kbd> <kbd>↓</kbd> choose
          </span>
          <span>
            <kbd>Enter</kbd> open
          </span>
          <span>
            <kbd>Esc</kbd> close
          </span>
        </p>
      }
    >
      <CommandGroup heading="Actions">
        {found.actions.map(({ id, label, Icon, run }) => (
          <CommandItem key={id} value={`action:${id}`} Icon={Icon} label={label} onSelect={take(run)} />
        ))}
      </CommandGroup>
      <CommandGroup heading={wanted === '' ? 'Recent conversations' : 'Conversations'}>
        {found.conversations.map((row) => (
          <CommandItem
            key={row.id}
            value={`conversation:${row.id}`}
            Icon={MessageSquare}
            label={listTitle(row)}
            aside={formatDateLabel(row.started_at)}
            onSelect={take(() => props.onOpenConversation(row.id))}
          />
        ))}
      </CommandGroup>
      <CommandGroup heading="Documents">
        {found.documents.map(({ document, passage }) => (
          <CommandItem
            key={document.id}
            value={`document:${document.id}`}
            Icon={FileText}
            label={document.filename}
            aside={describeFound(document, passage?.page)}
            description={passage && withHits(passage.snippet)}
            onSelect={take(() =>
              passage === undefined ? props.onOpenDocument(document.id) : props.onOpenPassage(passage),
            )}
          />
        ))}
      </CommandGroup>
      <CommandGroup heading="Messages">
        {found.messages.map((message) => (
          <CommandItem
            key={message.message_id}
            value={`message:${message.message_id}`}
            Icon={MessagesSquare}
            label={listTitle(message)}
            aside={`${message.sender_role === 1 ? 'You' : 'Answer'} · ${formatDateLabel(message.created_at)}`}
            description={withHits(message.snippet)}
            onSelect={take(() => props.onOpenMessage(message))}
          />
        ))}
      </CommandGroup>
    </CommandDialog>
  )
}
