import { useQuery } from '@tanstack/react-query'
import { Check, ChevronsUpDown, MailOpen, Plus, RefreshCw } from 'lucide-react'
import { useState, type JSX } from 'react'
import type { Space } from '#web/data/current-space.ts'
import { useSpace } from '#web/data/current-space.ts'
import { receivedInvitationsQuery } from '#web/data/spaces/invitations.ts'
import { spacesQuery, type OwnSpace } from '#web/data/spaces/spaces.ts'
import { MOST_UNREAD, unreadQuery, type UnreadConversation } from '#web/data/spaces/unread-answers.ts'
import { InvitationsDialog } from '#web/features/spaces/invitations/invitations-dialog.tsx'
import { SpaceMark } from '#web/features/spaces/space-mark.tsx'
import {
  Menu,
  MenuChoice,
  MenuChoiceItem,
  MenuChosen,
  MenuDialogItem,
  MenuItem,
  MenuLabel,
  MenuSeparator,
} from '#web/ui/menu.tsx'
import styles from './space-switcher.module.css'

type SpaceSwitcherProps = {
  /** The open conversation, which is being read. */
  activeId: string | null
  onOpenSpace: (space: Space) => void
  onNewSpace: () => void
}

const PERSONAL = 'personal'
const NONE: readonly OwnSpace[] = []
const ALL_READ: readonly UnreadConversation[] = []

/** The number of unread conversations by place. */
function countUnread(rows: readonly UnreadConversation[], activeId: string | null): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { conversation_id: id, space_id: space } of rows)
    if (id !== activeId) counts[space ?? PERSONAL] = (counts[space ?? PERSONAL] ?? 0) + 1
  return counts
}

export function SpaceSwitcher({ activeId, onOpenSpace, onNewSpace }: SpaceSwitcherProps): JSX.Element {
  const current = useSpace()
  const { data: spaces = NONE, isPending, isError, refetch } = useQuery(spacesQuery)
  const { data: invitations = [] } = useQuery(receivedInvitationsQuery)
  const { data: unreadRows = ALL_READ } = useQuery(unreadQuery)
  const [isReading, setReading] = useState(false)
  const shown = spaces.find(({ id }) => id === current)
  const name = current === null ? 'Personal' : (shown?.name ?? (isPending ? 'Loading…' : 'A space'))
  const unread = countUnread(unreadRows, activeId)
  const hasNews =
    invitations.length > 0 ||
    [PERSONAL, ...spaces.map(({ id }) => id)].some((place) => place !== (current ?? PERSONAL) && unread[place])
  const [active, archived] = [spaces.filter(isActive), spaces.filter((space) => !isActive(space))]
  return (
    <div className={styles.bar}>
      <Menu
        align="start"
        label="Spaces"
        trigger={
          <button
            type="button"
            className={styles.trigger}
            aria-label={`Space: ${name}${hasNews ? ', with news elsewhere' : ''}`}
          >
            <SpaceMark color={shown?.color ?? null} />
            <span className={styles.name} dir="auto">
              {name}
            </span>
            {hasNews && <span className={styles.news} aria-hidden />}
            <ChevronsUpDown size={14} aria-hidden className={styles.chevron} />
          </button>
        }
      >
        <MenuChoice
          value={current ?? PERSONAL}
          onValueChange={(chosen) => onOpenSpace(chosen === PERSONAL ? null : chosen)}
        >
          <Choice value={PERSONAL} name="Personal" color={null} unread={unread[PERSONAL]} />
          {active.map(({ id, name: label, color }) => (
            <Choice key={id} value={id} name={label} color={color} unread={unread[id]} />
          ))}
          {isPending && <MenuLabel>Loading the other spaces…</MenuLabel>}
          {archived.length > 0 && <MenuLabel>Archived</MenuLabel>}
          {archived.map(({ id, name: label, color }) => (
            <Choice key={id} value={id} name={label} color={color} unread={unread[id]} />
          ))}
        </MenuChoice>
        <MenuSeparator />
        {isError && spaces === NONE && (
          <MenuItem onSelect={() => void refetch()}>
            <RefreshCw size={15} aria-hidden />
            Spaces could not be read: try again
          </MenuItem>
        )}
        {invitations.length > 0 && (
          <MenuDialogItem onOpen={() => setReading(true)}>
            <MailOpen size={15} aria-hidden />
            {invitations.length === 1 ? 'An invitation' : `${invitations.length} invitations`}
          </MenuDialogItem>
        )}
        <MenuDialogItem onOpen={onNewSpace}>
          <Plus size={15} aria-hidden />
          New space
        </MenuDialogItem>
      </Menu>
      <InvitationsDialog open={isReading} onOpenChange={setReading} onOpenSpace={onOpenSpace} />
    </div>
  )
}

const isActive = ({ archived_at: archivedAt }: OwnSpace): boolean => archivedAt === null

const describeCount = (count: number): string => (count < MOST_UNREAD ? `${count}` : `${MOST_UNREAD - 1}+`)

type ChoiceProps = { value: string; name: string; color: string | null; unread: number | undefined }

function Choice({ value, name, color, unread = 0 }: ChoiceProps): JSX.Element {
  return (
    <MenuChoiceItem value={value}>
      <SpaceMark color={color} />
      <span className={styles.choice} dir="auto">
        {name}
      </span>
      {unread > 0 && (
        <span
          className={styles.count}
          role="img"
          aria-label={unread === 1 ? '1 unread conversation' : `${describeCount(unread)} unread conversations`}
        >
          {describeCount(unread)}
        </span>
      )}
      <MenuChosen>
        <Check size={15} />
      </MenuChosen>
    </MenuChoiceItem>
  )
}
