import { useState } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { useShortcut } from '#web/ui/use-shortcut.ts'

export function useDebugShortcut(): { open: boolean; close: () => void } {
  const [open, setOpen] = useState(false)
  useShortcut(SHORTCUTS.toggleDebugPanel, () => setOpen((before) => !before))
  return { open, close: () => setOpen(false) }
}
