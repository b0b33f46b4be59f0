import { useState, type JSX, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import rows from './rows.module.css'
import { ErrorText } from './section.tsx'
import { TextField } from './text-field.tsx'

type TypedConfirmationProps = {
  title: string
  description: string
  /** Has to be typed, in letters of either case. */
  name: string
  formLabel: string
  confirmLabel: string
  busy: boolean
  errorMessage: string | null
  onConfirm: (typed: string) => void
  onClose: () => void
  /** Further fields. */
  children?: ReactNode
}

/** Asks before a deletion that cannot be undone: the name of what goes has to be typed. */
export function TypedConfirmation(props: TypedConfirmationProps): JSX.Element {
  const { title, description, name, formLabel, confirmLabel, busy, errorMessage, onConfirm, onClose, children } = props
  const [typed, setTyped] = useState('')
  const isTyped = typed.trim().toLowerCase() === name.toLowerCase()
  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title={title}
      description={description}
    >
      <form
        className={rows.dialog}
        aria-label={formLabel}
        onSubmit={(event) => {
          event.preventDefault()
          onConfirm(typed)
        }}
      >
        <TextField
          label={`To confirm, type ${name}`}
          name="confirmation"
          required
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {children}
        <ErrorText>{errorMessage}</ErrorText>
        <div className={rows.actions}>
          <Button type="submit" variant="destructive" disabled={busy || !isTyped}>
            {busy ? 'Deleting...' : confirmLabel}
          </Button>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
