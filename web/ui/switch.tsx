import { Switch as Primitive } from 'radix-ui'
import type { ComponentPropsWithoutRef, JSX } from 'react'
import styles from './switch.module.css'

export function Switch(props: ComponentPropsWithoutRef<typeof Primitive.Root>): JSX.Element {
  return (
    <Primitive.Root className={styles.switch} {...props}>
      <Primitive.Thumb className={styles.thumb} />
    </Primitive.Root>
  )
}
