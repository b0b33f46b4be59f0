import { ArrowLeft, ArrowRight } from 'lucide-react'
import type { JSX } from 'react'

import styles from './viewer-header.module.css'
import { StepButton } from './step-button.tsx'

export interface SourceNavigation {
  /** Number of the open source, counted from 1. */
  position: number
  count: number
  onMove: (delta: -1 | 1) => void
}

export function SourceSteps({ position, count, onMove }: SourceNavigation): JSX.Element {
  return (
    <div className={styles.group} role="group" aria-label="Sources of the answer">
      <StepButton label="Previous source" isEnd={position <= 1} onPress={() => onMove(-1)}>
        <ArrowLeft size={16} />
      </StepButton>
      <span className={styles.count} aria-live="polite">
        Source {position} of {count}
      </span>
      <StepButton label="Next source" isEnd={position >= count} onPress={() => onMove(1)}>
        <ArrowRight size={16} />
      </StepButton>
    </div>
  )
}
