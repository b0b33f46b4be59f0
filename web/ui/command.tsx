import { Command as Primitive } from 'cmdk'
import { Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ComponentType, JSX, ReactNode } from 'react'
import { closesOnEscape } from './dialog.tsx'
import { useReturnFocus } from './use-return-focus.ts'
import hidden from './visually-hidden.module.css'
import styles from './command.module.css'

export type CommandDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Read out by screen readers. */
  label: string
  placeholder: string
  search: string
  onSearch: (search: string) => void
  /** It is closed, and the element that had the focus before has it again. */
  onClosed: () => void
  children: ReactNode
  /** What there is to say about the results, below them. */
  state: ReactNode
  footer: ReactNode
}

/** A box to type in with what it finds below: arrow keys choose, Enter takes, Escape closes. */
export function CommandDialog(props: CommandDialogProps): JSX.Element {
  const returnFocus = useReturnFocus()
  return (
    <Dialog.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.veil} />
        <Dialog.Content
          className={styles.dialog}
          aria-describedby={undefined}
          onKeyDown={closesOnEscape(props.onOpenChange)}
          onOpenAutoFocus={returnFocus.onOpenAutoFocus}
          onCloseAutoFocus={(event) => {
            returnFocus.onCloseAutoFocus(event)
            props.onClosed()
          }}
        >
          <Dialog.Title className={hidden.hidden}>{props.label}</Dialog.Title>
          <Primitive label={props.label} shouldFilter={false} loop vimBindings={false} className={styles.command}>
            <div className={styles.box}>
              <Search size={18} aria-hidden />
              <Primitive.Input
                className={styles.input}
                placeholder={props.placeholder}
                value={props.search}
                onValueChange={props.onSearch}
              />
            </div>
            <Primitive.List className={styles.list} label="Results">
              {props.children}
            </Primitive.List>
            {props.state}
            {props.footer}
          </Primitive>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Entries under a heading; nothing where there are none. */
export function CommandGroup({ heading, children }: { heading: string; children: ReactNode[] }): JSX.Element | null {
  if (children.length === 0) return null
  return (
    <Primitive.Group heading={heading} className={styles.group}>
      {children}
    </Primitive.Group>
  )
}

export type CommandItemProps = {
  /** Tells it from all others. */
  value: string
  Icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  label: ReactNode
  /** At the end of the line. */
  aside?: ReactNode
  /** A second line. */
  description?: ReactNode
  onSelect: () => void
}

export function CommandItem({ value, Icon, label, aside, description, onSelect }: CommandItemProps): JSX.Element {
  return (
    <Primitive.Item value={value} onSelect={onSelect} className={styles.item}>
      <Icon size={16} aria-hidden />
      <span className={styles.label}>{label}</span>
      {aside !== undefined && <span className={styles.aside}>{aside}</span>}
      {description !== undefined && <span className={styles.description}>{description}</span>}
    </Primitive.Item>
  )
}
