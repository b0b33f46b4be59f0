import { Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ComponentProps, JSX, ReactNode } from 'react'
import { closesOnEscape } from './dialog.tsx'
import { useReturnFocusOnceOpen } from './use-return-focus.ts'
import hidden from './visually-hidden.module.css'
import styles from './command.module.css'

export type CommandDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** For screen readers. */
  label: string
  /** Called after the focus is back where it was. */
  onClosed: () => void
  children: ReactNode
}

export function CommandDialog(props: CommandDialogProps): JSX.Element {
  const returnFocus = useReturnFocusOnceOpen(props.open)
  return (
    <Dialog.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.veil} />
        <Dialog.Content
          className={styles.dialog}
          aria-describedby={undefined}
          onKeyDown={closesOnEscape(props.onOpenChange)}
          onCloseAutoFocus={(event) => {
            returnFocus.onCloseAutoFocus(event)
            props.onClosed()
          }}
        >
          <Dialog.Title className={hidden.hidden}>{props.label}</Dialog.Title>
          {props.children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

export function CommandBox({ children }: { children: ReactNode }): JSX.Element {
  return (
    <div className={styles.box}>
      <Search size={18} aria-hidden />
      {children}
    </div>
  )
}

/** A field for the time until the palette has loaded, so that no typed text is lost. */
export function CommandField(props: ComponentProps<'input'>): JSX.Element {
  return <input type="text" autoComplete="off" spellCheck={false} className={styles.input} {...props} />
}
