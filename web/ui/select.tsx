import { ChevronDown } from 'lucide-react'
import type { ComponentPropsWithRef, JSX } from 'react'
import { classNames } from './class-names.ts'
import styles from './select.module.css'

type SelectProps = Omit<ComponentPropsWithRef<'select'>, 'size' | 'multiple'> & { size?: 'default' | 'sm' }

/** A native select, which phones show best. */
export function Select({ size = 'default', className, ...rest }: SelectProps): JSX.Element {
  return (
    <span className={classNames(styles.frame, size === 'sm' && styles.small, className)}>
      <select className={styles.select} {...rest} />
      <ChevronDown size={14} aria-hidden className={styles.mark} />
    </span>
  )
}
