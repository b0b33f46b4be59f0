import { useCallback, useState, type ComponentType } from 'react'
import type { CommandPaletteProps } from '#web/features/palette/command-palette.tsx'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { toast } from '#web/ui/toast.tsx'
import { useShortcut } from '#web/ui/use-shortcut.ts'

type Palette = {
  isOpen: boolean
  setOpen: (open: boolean) => void
  /** Null until its code is loaded. */
  View: ComponentType<CommandPaletteProps> | null
}

export function usePalette(): Palette {
  const [isOpen, setIsOpen] = useState(false)
  const [View, setView] = useState<Palette['View']>(null)
  const setOpen = useCallback((open: boolean): void => {
    setIsOpen(open)
    if (!open) return
    import('#web/features/palette/command-palette.tsx').then(
      (loaded) => setView(() => loaded.default),
      (error: unknown) => {
        console.error(error)
        setIsOpen(false)
        toast({
          title: 'Error',
          description: 'The search could not be loaded. Check the connection and try again.',
          variant: 'destructive',
        })
      },
    )
  }, [])
  useShortcut(SHORTCUTS.openPalette, () => setOpen(true))
  return { isOpen, setOpen, View }
}
