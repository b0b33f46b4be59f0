import { X } from 'lucide-react'
import { AlertDialog as Alert, Dialog as Primitive } from 'radix-ui'
import type { JSX, KeyboardEventHandler, ReactNode } from 'react'
import { Button } from './button.tsx'
import { useReturnFocus } from './use-return-focus.ts'
import styles from './dialog.module.css'

export type DialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: string
  actions?: ReactNode
  /** False if only an action may close it, because its content cannot be shown again. */
  isClosable?: boolean
  children?: ReactNode
}

/** A toast that appears meanwhile would take Escape from the primitive; here it always closes the dialog. */
export const closesOnEscape =
  (onOpenChange: (open: boolean) => void): KeyboardEventHandler =>
  (event) => {
    if (event.key === 'Escape') onOpenChange(false)
  }

export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  actions,
  isClosable = true,
  children,
}: DialogProps): JSX.Element {
  const returnFocus = useReturnFocus()
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className={styles.veil} />
        <Primitive.Content
          className={styles.dialog}
          onKeyDown={closesOnEscape(onOpenChange)}
          {...returnFocus}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <Primitive.Title className={styles.title}>{title}</Primitive.Title>
          {description !== undefined && (
            <Primitive.Description className={styles.description}>{description}</Primitive.Description>
          )}
          {children}
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
          {isClosable && (
            <Primitive.Close asChild>
              <Button variant="ghost" size="icon" aria-label="Close" className={styles.close}>
                <X size={16} />
              </Button>
            </Primitive.Close>
          )}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

export type ConfirmDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description: string
  confirmLabel: string
  onConfirm: () => void
}

/** Asks before an irreversible action. Cancel has the focus. */
export function ConfirmDialog(props: ConfirmDialogProps): JSX.Element {
  const returnFocus = useReturnFocus()
  return (
    <Alert.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Alert.Portal>
        <Alert.Overlay className={styles.veil} />
        <Alert.Content className={styles.dialog} onKeyDown={closesOnEscape(props.onOpenChange)} {...returnFocus}>
          <Alert.Title className={styles.title}>{props.title}</Alert.Title>
          <Alert.Description className={styles.description}>{props.description}</Alert.Description>
          <div className={styles.actions}>
            <Alert.Cancel asChild>
              <Button variant="outline">Cancel</Button>
            </Alert.Cancel>
            <Alert.Action asChild>
              <Button variant="destructive" onClick={props.onConfirm}>
                {props.confirmLabel}
              </Button>
            </Alert.Action>
          </div>
        </Alert.Content>
      </Alert.Portal>
    </Alert.Root>
  )
}
