import { useEffect, useState } from 'react'

/** Whether the debug panel is open; Ctrl+Shift+D toggles it. */
export function useDebugShortcut(): { open: boolean; close: () => void } {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey || event.code !== 'KeyD') return
      event.preventDefault()
      if (!event.repeat) setOpen((before) => !before)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return { open, close: () => setOpen(false) }
}
