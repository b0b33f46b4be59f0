import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState, type ComponentType } from 'react'
import { afterFirstReads } from '#web/data/after-first-reads.ts'
import type { PaletteViewProps } from '#web/features/palette/palette-dialog.tsx'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { toast } from '#web/ui/toast.tsx'
import { useShortcut } from '#web/ui/use-shortcut.ts'

type Palette = {
  isOpen: boolean
  setOpen: (open: boolean) => void
  /** Null until its code is loaded. */
  View: ComponentType<PaletteViewProps> | null
}

export function usePalette(): Palette {
  const queryClient = useQueryClient()
  const [isOpen, setIsOpen] = useState(false)
  const [View, setView] = useState<Palette['View']>(null)
  const load = useCallback(async (): Promise<void> => {
    const loaded = await import('./palette-view.tsx')
    setView(() => loaded.default)
  }, [])
  const setOpen = useCallback(
    (open: boolean): void => {
      setIsOpen(open)
      if (!open) return
      load().catch((error: unknown) => {
        console.error(error)
        setIsOpen(false)
        toast({
          title: 'Error',
          description: 'The search could not be loaded. Check the connection and try again.',
          variant: 'destructive',
        })
      })
    },
    [load],
  )
  useEffect(
    () => afterFirstReads(queryClient, () => void load().catch((error: unknown) => console.error(error))),
    [queryClient, load],
  )
  useShortcut(SHORTCUTS.openPalette, () => setOpen(true))
  return { isOpen, setOpen, View }
}
