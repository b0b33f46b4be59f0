import { useEffect, useRef, type RefObject } from 'react'

/** @returns a ref for the button that a field or form replaces: it gets the focus back unless an element elsewhere has it */
export function useFocusAfterField(isFieldOpen: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(isFieldOpen)
  useEffect(() => {
    // With the field, the focus falls to the page or to the sheet around it.
    const isFocusLost = button.current !== null && document.activeElement?.contains(button.current) !== false
    if (wasOpen.current && !isFieldOpen && isFocusLost) button.current?.focus()
    wasOpen.current = isFieldOpen
  }, [isFieldOpen])
  return button
}
