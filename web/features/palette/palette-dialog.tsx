import { useRef, useState, type ComponentType, type JSX } from 'react'
import { MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { CommandBox, CommandDialog, CommandField } from '#web/ui/command-dialog.tsx'
import type { CommandPaletteProps } from './command-palette.tsx'

const LABEL = 'Search and commands'
const PLACEHOLDER = 'Find chats, documents, actions…'

/** The view knows its actions itself: their code loads with it. */
export type PaletteViewProps = Omit<CommandPaletteProps, 'actions'>

type OwnProps = 'label' | 'placeholder' | 'search' | 'onSearch' | 'onTake' | 'isEverywhere' | 'onEverywhere'
type PaletteDialogProps = Omit<PaletteViewProps, OwnProps> & {
  onOpenChange: (open: boolean) => void
  View: ComponentType<PaletteViewProps> | null
}

/** The command palette in its dialog. Typing works before its code has loaded. */
export function PaletteDialog({ View, onOpenChange, ...props }: PaletteDialogProps): JSX.Element {
  const [search, setSearch] = useState('')
  const [isEverywhere, setEverywhere] = useState(false)
  /** The chosen entry; it runs after the dialog has returned the focus. */
  const chosen = useRef<(() => void) | null>(null)
  const type = (typed: string): void => setSearch(typed.slice(0, MAX_SEARCH_LENGTH))
  return (
    <CommandDialog
      open={props.open}
      onOpenChange={onOpenChange}
      label={LABEL}
      onClosed={() => {
        setSearch('')
        setEverywhere(false)
        chosen.current?.()
        chosen.current = null
      }}
    >
      {View === null ? (
        <CommandBox>
          <CommandField
            aria-label={LABEL}
            placeholder={PLACEHOLDER}
            value={search}
            onChange={(event) => type(event.target.value)}
          />
        </CommandBox>
      ) : (
        <View
          {...props}
          label={LABEL}
          placeholder={PLACEHOLDER}
          search={search}
          onSearch={type}
          isEverywhere={isEverywhere}
          onEverywhere={setEverywhere}
          onTake={(run) => {
            chosen.current = run
            onOpenChange(false)
          }}
        />
      )}
    </CommandDialog>
  )
}
