import type { JSX } from 'react'
import { Logo } from '#web/ui/logo.tsx'
import styles from './login-form.module.css'

export function FormHeading({ title, subtitle }: { title: string; subtitle: string }): JSX.Element {
  return (
    <>
      <Logo size={36} />
      <div className={styles.heading}>
        <h1 id="login-title" className={styles.title}>
          {title}
        </h1>
        <p className={styles.subtitle}>{subtitle}</p>
      </div>
    </>
  )
}
