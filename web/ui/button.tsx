import { Slot } from 'radix-ui'
import type { ComponentPropsWithRef, JSX } from 'react'
import { classNames } from './class-names.ts'
import styles from './button.module.css'

export type ButtonProps = ComponentPropsWithRef<'button'> & {
  variant?: 'default' | 'destructive' | 'outline' | 'secondary' | 'ghost' | 'link'
  size?: 'default' | 'sm' | 'lg' | 'icon'
  /** Gives the only child the button's look, for links. */
  asChild?: boolean
}

/** `type="button"` by default. An `icon` button needs an `aria-label`. */
export function Button({
  variant = 'default',
  size = 'default',
  asChild = false,
  className,
  type,
  ...rest
}: ButtonProps): JSX.Element {
  const Element = asChild ? Slot.Root : 'button'
  return (
    <Element
      {...(asChild ? {} : { type: type ?? 'button' })}
      className={classNames(styles.button, styles[variant], styles[`size-${size}`], className)}
      {...rest}
    />
  )
}
