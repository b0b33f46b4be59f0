import { Tooltip as Primitive } from 'radix-ui'
import type { JSX, ReactNode } from 'react'
import styles from './tooltip.module.css'

/** Once around the page: opens after 700 ms, at once within 300 ms of another. */
export function TooltipProvider({ children }: { children: ReactNode }): JSX.Element {
  return (
    <Primitive.Provider delayDuration={700} skipDelayDuration={300}>
      {children}
    </Primitive.Provider>
  )
}

export type TooltipProps = {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** One element that can take focus. */
  children: ReactNode
}

/** Explains the element that it wraps, on hover and on focus. */
export function Tooltip({ content, side = 'top', children }: TooltipProps): JSX.Element {
  return (
    <Primitive.Root>
      <Primitive.Trigger asChild>{children}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content side={side} sideOffset={4} collisionPadding={8} className={styles.tooltip}>
          {content}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
