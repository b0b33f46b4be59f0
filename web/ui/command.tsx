import { Command as Primitive } from 'cmdk'
import { useRef, useState, type ComponentType, type JSX, type ReactNode } from 'react'
import { CommandBox } from './command-dialog.tsx'
import styles from './command.module.css'

export type CommandPanelProps = {
  /** For screen readers. */
  label: string
  placeholder: string
  search: string
  onSearch: (search: string) => void
  values: readonly string[]
  children: ReactNode
  state: ReactNode
  footer: ReactNode
}

const MOVES = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End'])

/** The first entry, until the person moves. The primitive also moves by itself and reports both moves alike. */
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

export function CommandGroup({ heading, children }: { heading: string; children: ReactNode[] }): JSX.Element | null {
  if (children.length === 0) return null
  return (
    <Primitive.Group heading={heading} className={styles.group}>
      {children}
    </Primitive.Group>
  )
}

export type CommandItemProps = {
  value: string
  Icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  label: ReactNode
  aside?: ReactNode
  description?: ReactNode
  onSelect: () => void
}

export function CommandItem({ value, Icon, label, aside, description, onSelect }: CommandItemProps): JSX.Element {
  return (
    <Primitive.Item value={value} onSelect={onSelect} className={styles.item}>
      <Icon size={16} aria-hidden />
      <span className={styles.label} dir="auto">
        {label}
      </span>
      {aside !== undefined && <span className={styles.aside}>{aside}</span>}
      {description !== undefined && (
        <span className={styles.description} dir="auto">
          {description}
        </span>
      )}
    </Primitive.Item>
  )
}
