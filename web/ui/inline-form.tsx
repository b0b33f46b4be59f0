import type { JSX, KeyboardEvent, ReactNode, SubmitEvent } from 'react'
import { Button } from './button.tsx'
import { ErrorText } from './section.tsx'
import styles from './rows.module.css'

type InlineFormProps = {
  label: string
  className?: string | undefined
  errorMessage: string | null
  busy: boolean
  /** The labels of the submit button, idle and busy. */
  save?: string
  saving?: string
  onInput?: () => void
  onSubmit: (form: HTMLFormElement) => Promise<unknown>
  onCancel: () => void
  children: ReactNode
}

/** A form in place of the button that opened it, from which it takes the focus. Its opener uses `useFocusAfterField`. */
export function InlineForm(props: InlineFormProps): JSX.Element {
  const {
    label,
    className = styles.form,
    errorMessage,
    busy,
    save = 'Save',
    saving = 'Saving...',
    onInput,
    onSubmit,
    onCancel,
    children,
  } = props
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void onSubmit(event.currentTarget)
  }
  const cancelOnEscape = (event: KeyboardEvent<HTMLFormElement>): void => {
    if (event.key === 'Escape') onCancel()
  }
  return (
    <form
      ref={focusFirstField}
      className={className}
      aria-label={label}
      onInput={onInput}
      onSubmit={submit}
      onKeyDown={cancelOnEscape}
      data-own-escape
    >
      {children}
      <ErrorText>{errorMessage}</ErrorText>
      <div className={styles.actions}>
        <Button type="submit" size="sm" disabled={busy}>
          {busy ? saving : save}
        </Button>
        <Button variant="ghost" size="sm" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

function focusFirstField(form: HTMLFormElement | null): void {
  if (form?.contains(document.activeElement) === false)
    form.querySelector<HTMLElement>('input:not([type=hidden]), select')?.focus()
}
