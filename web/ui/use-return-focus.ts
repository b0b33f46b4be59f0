import { useRef } from 'react'

type ReturnFocus = { onOpenAutoFocus: () => void; onCloseAutoFocus: (event: Event) => void }

/**
 * Gives the focus back to the element that had it before a dialog opened. The primitives do so only for a trigger of
 * their own, and these dialogs are opened from elsewhere.
 */
export function useReturnFocus(): ReturnFocus {
  const opener = useRef<Element | null>(null)
  return {
    onOpenAutoFocus: () => {
      opener.current = document.activeElement
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault()
      if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus()
    },
  }
}
