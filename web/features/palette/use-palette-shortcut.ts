import { useEffect } from 'react'

/** Calls back on Ctrl+K or Cmd+K, wherever the focus is. */
export function usePaletteShortcut(onPress: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isCommand = event.ctrlKey !== event.metaKey && !event.shiftKey && !event.altKey
      if (!isCommand || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      if (!event.repeat) onPress()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [onPress])
}
