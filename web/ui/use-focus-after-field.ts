import { useEffect, useRef, type RefObject } from 'react'

/** @returns a ref for the button that a field replaces: it gets the focus back unless another element has it */
export function useFocusAfterField(isFieldOpen: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(isFieldOpen)
  useEffect(() => {
    if (wasOpen.current && !isFieldOpen && document.activeElement === document.body) button.current?.focus()
    wasOpen.current = isFieldOpen
  }, [isFieldOpen])
  return button
}
