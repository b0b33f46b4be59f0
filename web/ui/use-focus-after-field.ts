import { useEffect, useRef, type RefObject } from 'react'

/**
 * Returns a ref for the button that a field replaces: when the field closes, the button gets the focus unless another
 * element has it.
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
