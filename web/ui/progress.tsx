import { Progress as Primitive } from 'radix-ui'
import type { JSX } from 'react'
import styles from './progress.module.css'

/** `value` is 0 to 100; null: indeterminate. */
export function Progress({ value, label }: { value: number | null; label: string }): JSX.Element {
  return (
    <Primitive.Root value={value} aria-label={label} className={styles.track}>
      <Primitive.Indicator
        className={value === null ? styles.unknown : styles.bar}
        style={value === null ? undefined : { transform: `scaleX(${Math.min(100, Math.max(0, value)) / 100})` }}
      />
    </Primitive.Root>
  )
}
