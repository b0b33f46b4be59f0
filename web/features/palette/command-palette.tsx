import { FileText, GitBranch, MessageSquare, MessagesSquare } from 'lucide-react'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type JSX } from 'react'
import type { ListedConversation } from '#contract/conversation.ts'
import { nameWithFolder } from '#contract/document.ts'
import type { FoundMessage, FoundPassage, SnippetPart } from '#contract/search.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { spacesQuery } from '#web/data/spaces/spaces.ts'
import { describeSearchHit } from '#web/lib/documents/describe-document.ts'
import { formatDateLabel } from '#web/lib/format/format-date.ts'
import { listTitle } from '#web/lib/messages/conversation-labels.ts'
import { CommandGroup, CommandItem, CommandPanel } from '#web/ui/command.tsx'
import { SwitchMark } from '#web/ui/switch-mark.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './command-palette.module.css'
import type { PaletteAction } from './palette-action.ts'
import { usePaletteResults, type FoundDocument } from './use-palette-results.ts'

export type CommandPaletteProps = {
  open: boolean
  label: string
  placeholder: string
  search: string
  onSearch: (search: string) => void
  /** Closes the palette, then runs the chosen entry. */
  onTake: (run: () => void) => void
  isEverywhere: boolean
  onEverywhere: (isEverywhere: boolean) => void
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

const valueOf = {
  action: ({ id }: PaletteAction) => `action:${id}`,
  conversation: ({ id }: ListedConversation) => `conversation:${id}`,
  document: ({ document }: FoundDocument) => `document:${document.id}`,
  message: ({ message_id: id }: FoundMessage) => `message:${id}`,
}

export default function CommandPalette(props: CommandPaletteProps): JSX.Element {
  const { wanted, found, count, isSearching, failed } = usePaletteResults(props.search, props)
  const { data: spaces = [] } = useQuery(spacesQuery)
  const hasSpaces = spaces.length > 0
  const take = (run: () => void) => (): void => props.onTake(run)

  return (
    <CommandPanel
      label={props.label}
      placeholder={props.placeholder}
      search={props.search}
      onSearch={props.onSearch}
      values={[
        ...found.actions.map(valueOf.action),
        ...found.conversations.map(valueOf.conversation),
        ...found.documents.map(valueOf.document),
        ...found.messages.map(valueOf.message),
      ]}
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
          {hasSpaces && (
            <button
              type="button"
              role="switch"
              aria-checked={props.isEverywhere}
              className={styles.everywhere}
              onClick={() => props.onEverywhere(!props.isEverywhere)}
            >
              <SwitchMark checked={props.isEverywhere} /> all spaces
            </button>
          )}
        </p>
      }
    >
      <CommandGroup heading="Actions">
        {found.actions.map((action) => (
          <CommandItem
            key={action.id}
            value={valueOf.action(action)}
            Icon={action.Icon}
            label={action.label}
            onSelect={take(action.run)}
          />
        ))}
      </CommandGroup>
      <CommandGroup heading={wanted === '' ? 'Recent conversations' : 'Conversations'}>
        {found.conversations.map((row) => (
          <CommandItem
            key={row.id}
            value={valueOf.conversation(row)}
            Icon={row.branched_from === null ? MessageSquare : GitBranch}
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
            value={valueOf.document({ document, passage })}
            Icon={FileText}
            label={nameWithFolder(document)}
            aside={describeSearchHit(document, passage?.page)}
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
            value={valueOf.message(message)}
            Icon={MessagesSquare}
            label={listTitle(message)}
            aside={`${message.sender_role === SENDER_ROLES.user ? 'You' : 'Answer'} · ${formatDateLabel(message.created_at)}`}
            description={withHits(message.snippet)}
            onSelect={take(() => props.onOpenMessage(message))}
          />
        ))}
      </CommandGroup>
    </CommandPanel>
  )
}
