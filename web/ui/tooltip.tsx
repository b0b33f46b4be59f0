import { Tooltip as Primitive } from 'radix-ui'
import { useState, type JSX, type MouseEvent, type ReactNode } from 'react'
import { TOOLTIP_OPEN_DELAY_MS, TOOLTIP_SKIP_DELAY_MS } from './tooltip-constants.ts'
import styles from './tooltip.module.css'

/** Wraps the page once: the tooltips in it share their delays. */
export function TooltipProvider({ children }: { children: ReactNode }): JSX.Element {
  return (
    <Primitive.Provider delayDuration={TOOLTIP_OPEN_DELAY_MS} skipDelayDuration={TOOLTIP_SKIP_DELAY_MS}>
      {children}
    </Primitive.Provider>
  )
}

export type TooltipProps = {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** Opens on press too, for elements without an action: touch has no hover. */
  onPress?: boolean
  /** One focusable element. */
  children: ReactNode
}

export function Tooltip({ content, side = 'top', onPress = false, children }: TooltipProps): JSX.Element {
  const [open, setOpen] = useState(false)
  const press = (event: MouseEvent): void => {
    // The primitive closes the tooltip on press.
    event.preventDefault()
    setOpen(true)
  }
  return (
    <Primitive.Root open={open} onOpenChange={setOpen}>
      <Primitive.Trigger asChild {...(onPress ? { onClick: press } : {})}>
        {children}
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content side={side} sideOffset={4} collisionPadding={8} className={styles.tooltip}>
          {content}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
