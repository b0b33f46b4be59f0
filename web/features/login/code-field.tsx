import type { ComponentProps, JSX } from 'react'
import * as ui from '#web/ui/code-field.tsx'
import styles from './login-form.module.css'

export function CodeField(props: ComponentProps<typeof ui.CodeField>): JSX.Element {
  return <ui.CodeField title="Six digits" className={styles.code} {...props} />
}
