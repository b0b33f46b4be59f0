import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FolderInput } from 'lucide-react'
import type { JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import type { Space } from '#web/data/spaces/current-space.ts'
import { moveDocument } from '#web/data/spaces/moves.ts'
import { mayEdit } from '#web/data/spaces/space-rights.ts'
import { spacesQuery } from '#web/data/spaces/spaces.ts'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuItem, MenuLabel } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { reportRefusal } from './report-refusal.ts'
import { SpaceMark } from './space-mark.tsx'

/** Moves a document to another space; nothing where there is none. */
export function DocumentMove({ document }: { document: DocumentRow }): JSX.Element | null {
  const queryClient = useQueryClient()
  const { data: spaces = [] } = useQuery(spacesQuery)
  const from = document.space_id ?? null
  const targets = spaces.filter((space) => space.id !== from && mayEdit(space))
  if (targets.length === 0 && from === null) return null

  const move = async (space: Space, name: string): Promise<void> => {
    try {
      await moveDocument(queryClient, document.id, space)
      toast({ title: 'Document moved', description: `“${document.filename}” is in ${name} now.` })
    } catch (error) {
      reportRefusal(error, 'The document could not be moved. Please try again.')
    }
  }
  return (
    <Menu
      label={`Move ${document.filename}`}
      trigger={
        <Button variant="ghost" size="icon" aria-label={`Move ${document.filename}`} title="Move to another space">
          <FolderInput size={15} />
        </Button>
      }
    >
      <MenuLabel>Move to</MenuLabel>
      {from !== null && (
        <MenuItem onSelect={() => void move(null, 'Personal')}>
          <SpaceMark color={null} /> Personal
        </MenuItem>
      )}
      {targets.map(({ id, name, color }) => (
        <MenuItem key={id} onSelect={() => void move(id, `“${name}”`)}>
          <SpaceMark color={color} /> {name}
        </MenuItem>
      ))}
    </Menu>
  )
}
