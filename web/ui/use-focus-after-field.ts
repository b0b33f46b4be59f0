import { useEffect, useRef, type RefObject } from 'react'

/**
 * For the button that a field takes the place of: when the field is gone, whoever was in it goes on at the button. Who
 * has put the focus elsewhere meanwhile keeps it there.
 */
export function useFocusAfterField(isFieldOpen: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(isFieldOpen)
  useEffect(() => {
    if (wasOpen.current && !isFieldOpen && document.activeElement === document.body) button.current?.focus()
    wasOpen.current = isFieldOpen
  }, [isFieldOpen])
  return button
}
