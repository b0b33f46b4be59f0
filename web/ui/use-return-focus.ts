import { useRef } from 'react'

type ReturnFocus = { onOpenAutoFocus: () => void; onCloseAutoFocus: (event: Event) => void }

/** Returns the focus to the element that had it before; the primitives return it only to their own triggers. */
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
