import { Popover as Primitive } from 'radix-ui'
import type { JSX, ReactNode } from 'react'
import styles from './popover.module.css'
import { useReturnFocus } from './use-return-focus.ts'

export type PopoverProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** The element it points to; pressing it does not open the popover. */
  anchor: ReactNode
  label: string
  children: ReactNode
}

export function Popover({ open, onOpenChange, anchor, label, children }: PopoverProps): JSX.Element {
  const returnFocus = useReturnFocus()
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Anchor asChild>{anchor}</Primitive.Anchor>
      <Primitive.Portal>
        <Primitive.Content
          side="bottom"
          align="start"
          sideOffset={6}
          collisionPadding={8}
          className={styles.popover}
          aria-label={label}
          {...returnFocus}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
