import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FolderInput } from 'lucide-react'
import type { JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { transferDocument, type Transfer } from '#web/data/spaces/moves.ts'
import { mayEdit } from '#web/data/spaces/space-rights.ts'
import { spacesQuery } from '#web/data/spaces/spaces.ts'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuLabel, MenuSeparator } from '#web/ui/menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { reportRefusal } from './report-refusal.ts'
import { TargetItems, TransferMenu, type Choose } from './target-items.tsx'
import { TRANSFER_WORDS } from './transfer-words.ts'

/** Moves or copies a document to another space; nothing where there is none. */
export function DocumentMove({ document }: { document: DocumentRow }): JSX.Element | null {
  const queryClient = useQueryClient()
  const { data: spaces = [] } = useQuery(spacesQuery)
  const from = document.space_id ?? null
  const targets = spaces.filter((space) => space.id !== from && mayEdit(space))
  const withPersonal = from !== null
  if (targets.length === 0 && !withPersonal) return null

  const send =
    (transfer: Transfer): Choose =>
    (space, name) => {
      const { done, where } = TRANSFER_WORDS[transfer]
      transferDocument(queryClient, { transfer, id: document.id, space }).then(
        () => toast({ title: `Document ${done}`, description: `“${document.filename}” ${where} ${name} now.` }),
        (error: unknown) => reportRefusal(error, `The document could not be ${done}. Please try again.`),
      )
    }
  return (
    <Menu
      label={`Move ${document.filename}`}
      trigger={
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Move ${document.filename}`}
          title="Move or copy to another space"
        >
          <FolderInput size={15} />
        </Button>
      }
    >
      <MenuLabel>Move to</MenuLabel>
      <TargetItems targets={targets} withPersonal={withPersonal} onChoose={send('move')} />
      <MenuSeparator />
      <TransferMenu transfer="copy" targets={targets} withPersonal={withPersonal} onChoose={send('copy')} />
    </Menu>
  )
}
