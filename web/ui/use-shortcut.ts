import { useEffectEvent, useLayoutEffect } from 'react'
import type { Shortcut } from '#web/lib/shortcuts.ts'

/** Calls `onPress` when the shortcut is pressed, wherever the focus is; once while the key is held down. */
export function useShortcut(shortcut: Shortcut, onPress: () => void): void {
  const handle = useEffectEvent((event: KeyboardEvent): void => {
    if (!shortcut.matches(event)) return
    event.preventDefault()
    if (!event.repeat) onPress()
  })
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => handle(event)
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}
