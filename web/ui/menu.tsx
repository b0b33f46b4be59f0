import { ChevronRight } from 'lucide-react'
import { DropdownMenu as Primitive } from 'radix-ui'
import {
  createContext,
  useContext,
  useRef,
  useState,
  type ComponentPropsWithoutRef,
  type JSX,
  type ReactNode,
} from 'react'
import { classNames } from './class-names.ts'
import { useMediaQuery } from './use-media-query.ts'
import styles from './menu.module.css'

/** A menu renders inside the landmark of its button, where screen readers list it. */
const LANDMARKS = 'header, main, nav, aside, [role="dialog"]'

const MenuContainer = createContext<HTMLElement | null>(null)
const RunOnceClosed = createContext<(run: () => void) => void>((run) => run())

export type MenuProps = {
  trigger: ReactNode
  align?: 'start' | 'center' | 'end'
  label?: string
  onOpenChange?: (open: boolean) => void
  /** Prevent the event's default to keep the focus; else it returns to the button. */
  onCloseAutoFocus?: (event: Event) => void
  children: ReactNode
}

export function Menu({
  trigger,
  align = 'end',
  label,
  onOpenChange,
  onCloseAutoFocus,
  children,
}: MenuProps): JSX.Element {
  const button = useRef<HTMLButtonElement>(null)
  const onceClosed = useRef<(() => void) | null>(null)
  const [container, setContainer] = useState<HTMLElement | null>(null)
  const change = (open: boolean): void => {
    if (open) setContainer(button.current?.closest<HTMLElement>(LANDMARKS) ?? null)
    onOpenChange?.(open)
  }
  return (
    <Primitive.Root modal={false} onOpenChange={change}>
      <Primitive.Trigger ref={button} asChild>
        {trigger}
      </Primitive.Trigger>
      <Primitive.Portal container={container}>
        <Primitive.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className={styles.menu}
          {...(label === undefined ? {} : { 'aria-label': label })}
          onCloseAutoFocus={(event) => {
            onCloseAutoFocus?.(event)
            onceClosed.current?.()
            onceClosed.current = null
          }}
        >
          <MenuContainer value={container}>
            <RunOnceClosed value={(run) => (onceClosed.current = run)}>{children}</RunOnceClosed>
          </MenuContainer>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

export type MenuItemProps = ComponentPropsWithoutRef<typeof Primitive.Item> & { destructive?: boolean }

export function MenuItem({ destructive = false, className, ...rest }: MenuItemProps): JSX.Element {
  return <Primitive.Item className={classNames(styles.item, destructive && styles.destructive, className)} {...rest} />
}

/** An item that opens a dialog once the menu has closed: the dialog then returns the focus to the menu's button. */
export function MenuDialogItem({
  onOpen,
  ...rest
}: Omit<MenuItemProps, 'onSelect'> & { onOpen: () => void }): JSX.Element {
  const runOnceClosed = useContext(RunOnceClosed)
  return <MenuItem onSelect={() => runOnceClosed(onOpen)} {...rest} />
}

export function MenuSwitchItem(props: ComponentPropsWithoutRef<typeof Primitive.CheckboxItem>): JSX.Element {
  return (
    <Primitive.CheckboxItem
      className={classNames(styles.item, styles.switchItem)}
      onSelect={(event) => event.preventDefault()}
      {...props}
    />
  )
}

export function MenuChoice(props: ComponentPropsWithoutRef<typeof Primitive.RadioGroup>): JSX.Element {
  return <Primitive.RadioGroup {...props} />
}

export function MenuChoiceItem(props: ComponentPropsWithoutRef<typeof Primitive.RadioItem>): JSX.Element {
  return <Primitive.RadioItem className={styles.item} {...props} />
}

export function MenuChosen({ children }: { children: ReactNode }): JSX.Element {
  return <Primitive.ItemIndicator className={styles.chosen}>{children}</Primitive.ItemIndicator>
}

export function MenuLabel({ children }: { children: ReactNode }): JSX.Element {
  return <Primitive.Label className={styles.label}>{children}</Primitive.Label>
}

export function MenuSeparator(): JSX.Element {
  return <Primitive.Separator className={styles.separator} />
}

export type SubmenuProps = {
  label: string
  /** The current choice, at the end of the line. */
  value?: string
  children: ReactNode
}

/** A submenu. On narrow pages, its items are part of the first menu. */
export function Submenu({ label, value, children }: SubmenuProps): JSX.Element {
  const container = useContext(MenuContainer)
  const narrow = useMediaQuery('(width < 640px)')
  if (narrow) {
    return (
      <>
        <MenuLabel>{label}</MenuLabel>
        {children}
      </>
    )
  }
  return (
    <Primitive.Sub>
      <Primitive.SubTrigger className={styles.item}>
        {label}
        {value !== undefined && <span className={styles.value}>{value}</span>}
        <ChevronRight size={15} aria-hidden className={value === undefined ? styles.chosen : undefined} />
      </Primitive.SubTrigger>
      <Primitive.Portal container={container}>
        <Primitive.SubContent sideOffset={6} alignOffset={-5} collisionPadding={8} className={styles.menu}>
          {children}
        </Primitive.SubContent>
      </Primitive.Portal>
    </Primitive.Sub>
  )
}
