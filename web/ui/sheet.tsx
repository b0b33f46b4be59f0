import { Dialog as Primitive } from 'radix-ui'
import { useRef, type JSX, type ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { useReturnFocus } from './use-return-focus.ts'
import styles from './sheet.module.css'

export type SheetProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** For screen readers; the sheet shows no title. */
  label: string
  side: 'left' | 'right'
  children: ReactNode
  /** Moves the focus on closing, instead of returning it. */
  onCloseFocus?: (event: Event) => void
}

/** Radix sees Escape before the content does: elements with `data-own-escape` end something of their own with it. */
function leaveToContent(event: KeyboardEvent): void {
  if (event.target instanceof Element && event.target.closest('[data-own-escape]') !== null) event.preventDefault()
}

export function Sheet({ open, onOpenChange, label, side, children, onCloseFocus }: SheetProps): JSX.Element {
  const panel = useRef<HTMLDivElement>(null)
  const returnFocus = useReturnFocus()
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className={styles.veil} />
        <Primitive.Content
          ref={panel}
          className={classNames(styles.sheet, styles[side])}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            returnFocus.onOpenAutoFocus()
            // Focusing the first control would open its tooltip.
            event.preventDefault()
            panel.current?.focus()
          }}
          onEscapeKeyDown={leaveToContent}
          onCloseAutoFocus={onCloseFocus ?? returnFocus.onCloseAutoFocus}
        >
          <Primitive.Title className={styles.label}>{label}</Primitive.Title>
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
