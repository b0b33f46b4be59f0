import type { JSX } from 'react'

import { Button } from '#web/ui/button.tsx'

import styles from './step-button.module.css'

interface StepButtonProps {
  label: string
  isEnd: boolean
  onPress: () => void
  className?: string | undefined
  children: JSX.Element
}

/** An icon button for one step. At an end it uses `aria-disabled`: a disabled button would lose the focus. */
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
