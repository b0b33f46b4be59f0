import { useRef, useState } from 'react'

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
      giveFocusBack(opener.current)
    },
  }
}

/** As `useReturnFocus`, for content with a field that takes the focus before the primitive announces its own. */
export function useReturnFocusOnceOpen(open: boolean): Pick<ReturnFocus, 'onCloseAutoFocus'> {
  const [known, setKnown] = useState<{ open: boolean; opener: Element | null }>({ open: false, opener: null })
  if (known.open !== open) setKnown({ open, opener: open ? document.activeElement : known.opener })
  return {
    onCloseAutoFocus: (event) => {
      event.preventDefault()
      giveFocusBack(known.opener)
    },
  }
}

function giveFocusBack(opener: Element | null): void {
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
}
