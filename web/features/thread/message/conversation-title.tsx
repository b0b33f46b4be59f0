import { Pencil, Printer } from 'lucide-react'
import { useState, type JSX, type KeyboardEvent, type ReactNode } from 'react'
import { Button } from '#web/ui/button.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import styles from './conversation-title.module.css'

const LONGEST_TITLE = 500

type ConversationTitleProps = {
  title: string
  /** Null while there is nothing to rename. @returns whether it was stored. */
  onRename: ((title: string) => Promise<boolean>) | null
  /** Null while there is nothing to print. */
  onPrint: (() => void) | null
  /** Further actions. */
  children?: ReactNode
}

/** The title, editable in place: Enter or blur saves, Escape discards. An empty title changes nothing. */
export function ConversationTitle({ title, onRename, onPrint, children }: ConversationTitleProps): JSX.Element {
  const [draft, setDraft] = useState<string | null>(null)
  /** The title as it was when editing began: it may be renamed elsewhere meanwhile. */
  const [before, setBefore] = useState(title)
  const [saving, setSaving] = useState(false)
  const renameButton = useFocusAfterField(draft !== null)

  const save = async (): Promise<void> => {
    const wanted = draft?.trim() ?? ''
    if (saving || onRename === null) return
    if (wanted === '' || wanted === before) return setDraft(null)
    setSaving(true)
    if (await onRename(wanted)) setDraft(null)
    setSaving(false)
  }
  const decide = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Enter') {
      // Otherwise the button, which receives the focus without a change, would be pressed too.
      event.preventDefault()
      void save()
    }
    if (event.key === 'Escape') setDraft(null)
  }
  if (draft !== null) {
    return (
      <input
        className={styles.field}
        aria-label="Title of the conversation"
        dir="auto"
        value={draft}
        maxLength={LONGEST_TITLE}
        readOnly={saving}
        ref={selectAll}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={decide}
        onBlur={() => void save()}
      />
    )
  }
  return (
    <div className={styles.heading}>
      <h1 className={styles.title} dir="auto">
        {title}
      </h1>
      <span className={styles.more}>{children}</span>
      {onRename !== null && (
        <Button
          ref={renameButton}
          variant="ghost"
          size="icon"
          className={styles.action}
          aria-label="Rename conversation"
          title="Rename"
          onClick={() => {
            setBefore(title)
            setDraft(title)
          }}
        >
          <Pencil size={15} />
        </Button>
      )}
      {onPrint !== null && (
        <Button
          variant="ghost"
          size="icon"
          className={styles.action}
          aria-label="Print conversation"
          title="Print"
          onClick={onPrint}
        >
          <Printer size={15} />
        </Button>
      )}
    </div>
  )
}

function selectAll(field: HTMLInputElement | null): void {
  if (field !== null && field !== document.activeElement) field.select()
}
