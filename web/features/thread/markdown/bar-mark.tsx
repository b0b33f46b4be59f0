import type { JSX } from 'react'
import styles from './bar-mark.module.css'

/** Lucide's icons as single paths: an answer has dozens, and a component with many parts for each is slow. */
const LINES = {
  copy: 'M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H10a2 2 0 0 1-2-2V10a2 2 0 0 1 2-2zM4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2',
  copied: 'M20 6 9 17l-5-5',
  wrap: 'm16 16-3 3 3 3M3 12h14.5a1 1 0 0 1 0 7H13M3 19h6M3 5h18',
}

export function BarMark({ name }: { name: keyof typeof LINES }): JSX.Element {
  return (
    <svg className={styles.mark} viewBox="0 0 24 24" aria-hidden>
      <path d={LINES[name]} />
    </svg>
  )
}
