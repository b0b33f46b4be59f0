import type { JSX } from 'react'

import { Button } from '#web/ui/button.tsx'

import styles from './step-button.module.css'

interface StepButtonProps {
  label: string
  /** There is nothing further this way. */
  isEnd: boolean
  onPress: () => void
  className?: string | undefined
  children: JSX.Element
}

/** An icon button that leads one step on. At an end it only says that it is disabled: really so, it would drop the focus. */
export function StepButton({ label, isEnd, onPress, className, children }: StepButtonProps): JSX.Element {
  return (
    <span className={className}>
      <Button
        variant="ghost"
        size="icon"
        aria-label={label}
        aria-disabled={isEnd}
        className={styles.step}
        onClick={isEnd ? undefined : onPress}
      >
        {children}
      </Button>
    </span>
  )
}
