import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import type { JSX } from 'react'
import { useSpace } from '#web/data/current-space.ts'
import { modelsQuery, offeredIn, useAvailability, useModelLabel } from '#web/data/models.ts'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '#web/ui/menu.tsx'
import type { ThreadActions } from './thread-actions.tsx'

type RegenerateProps = { messageId: string; actions: ThreadActions }

/** Mounted only while open, since every answer has a menu. */
function RegenerateItems({ messageId, actions }: RegenerateProps): JSX.Element {
  const label = useModelLabel()
  const { data: models = [] } = useQuery(modelsQuery)
  const { data: availability = [] } = useAvailability()
  const available = new Set(availability.filter((row) => row.available).map((row) => row.model_identifier))
  const others = offeredIn(useSpace(), models).filter(
    ({ model_identifier }) => model_identifier !== actions.modelName && available.has(model_identifier),
  )
  return (
    <>
      <MenuItem onSelect={() => actions.regenerate(messageId, null)}>Again with {label(actions.modelName)}</MenuItem>
      {others.length > 0 && (
        <>
          <MenuSeparator />
          <MenuLabel>With another model</MenuLabel>
          {others.map(({ model_identifier, name }) => (
            <MenuItem key={model_identifier} onSelect={() => actions.regenerate(messageId, model_identifier)}>
              {name}
            </MenuItem>
          ))}
        </>
      )}
    </>
  )
}

export function RegenerateMenu({ messageId, actions }: RegenerateProps): JSX.Element {
  return (
    <Menu
      label="Regenerate"
      align="start"
      trigger={
        <Button variant="ghost" size="icon" aria-label="Regenerate" title="Regenerate">
          <RefreshCw size={15} />
        </Button>
      }
    >
      <RegenerateItems messageId={messageId} actions={actions} />
    </Menu>
  )
}
