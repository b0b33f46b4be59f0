import type { JSX } from 'react'
import type { Space } from '#web/data/spaces/current-space.ts'
import type { OwnSpace } from '#web/data/spaces/spaces.ts'
import { MenuItem, Submenu } from '#web/ui/menu.tsx'
import { SpaceMark } from './space-mark.tsx'

type MoveItemsProps = {
  spaces: readonly OwnSpace[]
  from: Space
  /** @param name as it stands in a sentence */
  onMove: (to: Space, name: string) => void
}

/** The places that a conversation of the person may be moved to. */
export function MoveItems({ spaces, from, onMove }: MoveItemsProps): JSX.Element | null {
  const targets = spaces.filter((space) => space.id !== from && space.archived_at === null)
  if (targets.length === 0 && from === null) return null
  return (
    <Submenu label="Move to">
      {from !== null && (
        <MenuItem onSelect={() => onMove(null, 'Personal')}>
          <SpaceMark color={null} /> Personal
        </MenuItem>
      )}
      {targets.map(({ id, name, color }) => (
        <MenuItem key={id} onSelect={() => onMove(id, `“${name}”`)}>
          <SpaceMark color={color} /> {name}
        </MenuItem>
      ))}
    </Submenu>
  )
}
