import { Command as Primitive } from 'cmdk'
import { useRef, useState, type ComponentType, type JSX, type ReactNode } from 'react'
import { CommandBox } from './command-dialog.tsx'
import styles from './command.module.css'

export type CommandPanelProps = {
  /** Read out by screen readers. */
  label: string
  placeholder: string
  search: string
  onSearch: (search: string) => void
  /** Of the entries that are shown, in their order. */
  values: readonly string[]
  children: ReactNode
  /** What there is to say about the results, below them. */
  state: ReactNode
  footer: ReactNode
}

const MOVES = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End'])

/**
 * The entry that Enter takes: the first, whatever comes in above it, until the person has gone to another one for what is
 * typed now. The primitive goes to entries by itself as well, and tells of both alike.
 */
function useChosen({ search, values }: Pick<CommandPanelProps, 'search' | 'values'>) {
  const [chosen, setChosen] = useState({ search, value: '' })
  const isMoved = useRef(false)
  const isStillThere = chosen.search === search && values.includes(chosen.value)
  return {
    value: isStillThere ? chosen.value : (values[0] ?? ''),
    onValueChange: (value: string): void => {
      if (isMoved.current) setChosen({ search, value })
    },
    onKeyDownCapture: ({ key }: { key: string }): void => {
      isMoved.current = MOVES.has(key)
    },
    onPointerMoveCapture: (): void => {
      isMoved.current = true
    },
  }
}

/** A box to type in with what it finds below: arrow keys choose, Enter takes. Has the focus from the start. */
export function CommandPanel(props: CommandPanelProps): JSX.Element {
  const chosen = useChosen(props)
  return (
    <Primitive {...chosen} label={props.label} shouldFilter={false} loop vimBindings={false} className={styles.command}>
      <CommandBox>
        <Primitive.Input
          autoFocus
          className={styles.input}
          placeholder={props.placeholder}
          value={props.search}
          onValueChange={props.onSearch}
        />
      </CommandBox>
      <Primitive.List className={styles.list} label="Results">
        {props.children}
      </Primitive.List>
      {props.state}
      {props.footer}
    </Primitive>
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
