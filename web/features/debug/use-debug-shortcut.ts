import { useState } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { useShortcut } from '#web/ui/use-shortcut.ts'

/** Whether the debug panel is open; its shortcut toggles it. */
export function useDebugShortcut(): { open: boolean; close: () => void } {
  const [open, setOpen] = useState(false)
  useShortcut(SHORTCUTS.toggleDebugPanel, () => setOpen((before) => !before))
  return { open, close: () => setOpen(false) }
}
