import type { JSX } from 'react'
import type { Space } from '#web/data/current-space.ts'
import type { Transfer } from '#web/data/spaces/moves.ts'
import type { OwnSpace } from '#web/data/spaces/spaces.ts'
import { MenuItem, Submenu } from '#web/ui/menu.tsx'
import { SpaceMark } from './space-mark.tsx'
import { TRANSFER_WORDS } from './transfer-words.ts'

/** @param name as it stands in a sentence */
export type Choose = (to: Space, name: string) => void

type TargetItemsProps = { targets: readonly OwnSpace[]; withPersonal: boolean; onChoose: Choose }

/** Personal and spaces, as places to which something may be moved or copied. */
export function TargetItems({ targets, withPersonal, onChoose }: TargetItemsProps): JSX.Element {
  return (
    <>
      {withPersonal && (
        <MenuItem onSelect={() => onChoose(null, 'Personal')}>
          <SpaceMark color={null} /> Personal
        </MenuItem>
      )}
      {targets.map(({ id, name, color }) => (
        <MenuItem key={id} onSelect={() => onChoose(id, `“${name}”`)}>
          <SpaceMark color={color} /> {name}
        </MenuItem>
      ))}
    </>
  )
}

type TransferMenuProps = TargetItemsProps & { transfer: Transfer }

/** Nothing where there is no target. */
export function TransferMenu({ transfer, ...items }: TransferMenuProps): JSX.Element | null {
  if (items.targets.length === 0 && !items.withPersonal) return null
  return (
    <Submenu label={TRANSFER_WORDS[transfer].label}>
      <TargetItems {...items} />
    </Submenu>
  )
}
