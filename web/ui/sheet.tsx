import { Dialog as Primitive } from 'radix-ui'
import { useRef, type JSX, type ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { useReturnFocus } from './use-return-focus.ts'
import styles from './sheet.module.css'

export type SheetProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Read out by screen readers; the sheet shows no title of its own. */
  label: string
  side: 'left' | 'right'
  children: ReactNode
  /** Where focus goes on closing, instead of the element that had it before. */
  onCloseFocus?: (event: Event) => void
}

/** A modal panel that slides over the page from one side. */
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
            // Focus on the first control would open its tooltip.
            event.preventDefault()
            panel.current?.focus()
          }}
          onCloseAutoFocus={onCloseFocus ?? returnFocus.onCloseAutoFocus}
        >
          <Primitive.Title className={styles.label}>{label}</Primitive.Title>
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
