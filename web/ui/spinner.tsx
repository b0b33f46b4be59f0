import type { JSX } from 'react'
import styles from './spinner.module.css'

/** A small turning ring; the words beside it say what is awaited. */
export function Spinner({ size = 16 }: { size?: number }): JSX.Element {
  return <span aria-hidden className={styles.spinner} style={{ width: size, height: size }} />
}
