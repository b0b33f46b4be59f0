import type { JSX } from 'react'
import styles from './spinner.module.css'

/** Hidden from screen readers: put a text next to it. */
export function Spinner({ size = 16 }: { size?: number }): JSX.Element {
  return <span aria-hidden className={styles.spinner} style={{ width: size, height: size }} />
}
