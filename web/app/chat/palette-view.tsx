import type { JSX } from 'react'
import CommandPalette from '#web/features/palette/command-palette.tsx'
import type { PaletteViewProps } from '#web/features/palette/palette-dialog.tsx'
import { useNavigation } from './navigation.tsx'
import { usePaletteActions } from './use-palette-actions.ts'

/** The command palette with its actions, whose code loads with it. */
export default function PaletteView(props: PaletteViewProps): JSX.Element {
  return <CommandPalette {...props} actions={usePaletteActions(useNavigation())} />
}
