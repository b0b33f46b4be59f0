import { useState, type JSX } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './edit-question.module.css'

type EditQuestionProps = {
  content: string
  /** False if it could not be sent; the text stays. Null while nothing can be asked. */
  onAsk: ((content: string) => Promise<boolean>) | null
  onCancel: () => void
}

export default function EditQuestion({ content, onAsk, onCancel }: EditQuestionProps): JSX.Element {
  const [text, setText] = useState(content)
  const [asking, setAsking] = useState(false)
  const isReady = text.trim() !== '' && text.trim() !== content && !asking && onAsk !== null

  const ask = async (): Promise<void> => {
    if (!isReady) return
    setAsking(true)
    if (!(await onAsk(text.trim()))) setAsking(false)
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        void ask()
      }}
    >
      <textarea
        className={styles.box}
        aria-label="Edit your message"
        rows={Math.min(8, text.split('\n').length + 1)}
        dir="auto"
        value={text}
        ref={focusEnd}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (SHORTCUTS.submit.matches(event)) void ask()
          if (event.key === 'Escape') onCancel()
        }}
      />
      <p className={styles.hint}>The changed message is asked in a new conversation. This one stays as it is.</p>
      <div className={styles.buttons}>
        <Button variant="ghost" size="sm" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" size="sm" disabled={!isReady}>
          Ask in a branch
        </Button>
      </div>
    </form>
  )
}

function focusEnd(box: HTMLTextAreaElement | null): void {
  if (box === null || box === document.activeElement) return
  box.focus()
  box.setSelectionRange(box.value.length, box.value.length)
}
