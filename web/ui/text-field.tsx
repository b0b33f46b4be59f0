import { useId, type ComponentPropsWithRef, type JSX } from 'react'
import { classNames } from './class-names.ts'
import styles from './text-field.module.css'

export function TextField({
  label,
  className,
  ...rest
}: ComponentPropsWithRef<'input'> & { label: string }): JSX.Element {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <input id={id} className={classNames(styles.input, className)} {...rest} />
    </div>
  )
}
