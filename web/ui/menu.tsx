import { DropdownMenu as Primitive } from 'radix-ui'
import type { ComponentPropsWithoutRef, JSX, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './menu.module.css'

export type MenuProps = {
  /** The button that opens the menu. */
  trigger: ReactNode
  align?: 'start' | 'center' | 'end'
  label?: string
  onOpenChange?: (open: boolean) => void
  children: ReactNode
}

/** A dropdown menu: arrow keys, type-ahead and Escape come with it. */
export function Menu({ trigger, align = 'end', label, onOpenChange, children }: MenuProps): JSX.Element {
  return (
    <Primitive.Root modal={false} {...(onOpenChange === undefined ? {} : { onOpenChange })}>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className={styles.menu}
          {...(label === undefined ? {} : { 'aria-label': label })}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

export type MenuItemProps = ComponentPropsWithoutRef<typeof Primitive.Item> & { destructive?: boolean }

/** One action of a menu. */
export function MenuItem({ destructive = false, className, ...rest }: MenuItemProps): JSX.Element {
  return <Primitive.Item className={classNames(styles.item, destructive && styles.destructive, className)} {...rest} />
}

/** A switch inside a menu; the menu stays open when it is pressed. */
export function MenuSwitchItem(props: ComponentPropsWithoutRef<typeof Primitive.CheckboxItem>): JSX.Element {
  return (
    <Primitive.CheckboxItem
      className={classNames(styles.item, styles.switchItem)}
      onSelect={(event) => event.preventDefault()}
      {...props}
    />
  )
}

/** A group of items that exclude one another. */
export function MenuChoice(props: ComponentPropsWithoutRef<typeof Primitive.RadioGroup>): JSX.Element {
  return <Primitive.RadioGroup {...props} />
}

export function MenuChoiceItem(props: ComponentPropsWithoutRef<typeof Primitive.RadioItem>): JSX.Element {
  return <Primitive.RadioItem className={styles.item} {...props} />
}

/** Shown inside a choice item only when it is the chosen one. */
export function MenuChosen({ children }: { children: ReactNode }): JSX.Element {
  return <Primitive.ItemIndicator className={styles.chosen}>{children}</Primitive.ItemIndicator>
}

export function MenuLabel({ children }: { children: ReactNode }): JSX.Element {
  return <Primitive.Label className={styles.label}>{children}</Primitive.Label>
}

export function MenuSeparator(): JSX.Element {
  return <Primitive.Separator className={styles.separator} />
}
