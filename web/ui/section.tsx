import { useId, type JSX, type ReactNode } from 'react'
import styles from './section.module.css'

export function Section({ title, children }: { title: string; children: ReactNode }): JSX.Element {
  const id = useId()
  return (
    <section className={styles.section} aria-labelledby={id}>
      <h3 id={id} className={styles.heading}>
        {title}
      </h3>
      {children}
    </section>
  )
}

export function ErrorText({ children }: { children: string | null }): JSX.Element | null {
  return children === null ? null : (
    <p role="alert" className={styles.refusal}>
      {children}
    </p>
  )
}
