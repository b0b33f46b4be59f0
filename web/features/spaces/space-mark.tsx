import type { JSX } from 'react'
import { spaceColor } from '#web/data/spaces/colors.ts'
import styles from './space-mark.module.css'

/** The arch of a space in its colour; an outline for what is personal. */
export function SpaceMark({ color }: { color: string | null }): JSX.Element {
  return (
    <svg width="12" height="14" viewBox="0 0 12 14" aria-hidden className={styles.mark}>
      <path
        d="M1 13V6a5 5 0 0 1 10 0v7Z"
        {...(color === null ? { fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 } : { fill: spaceColor(color) })}
      />
    </svg>
  )
}
