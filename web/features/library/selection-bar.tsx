import { MessageSquareText, Trash2 } from 'lucide-react'
import type { JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import styles from './document-list.module.css'

interface SelectionBarProps {
  count: number
  isAll: boolean
  isBusy: boolean
  onAll: () => void
  /** Undefined for readers of a space. */
  onDelete: (() => void) | undefined
  onDone: () => void
  /** Undefined where there is no conversation to ask in. */
  onAsk: (() => void) | undefined
}

export function SelectionBar(props: SelectionBarProps): JSX.Element {
  const isNone = props.count === 0
  return (
    <div className={styles.bar} role="toolbar" aria-label="Selected documents">
      <p className={styles.selected} role="status">
        {isNone ? 'None selected' : `${props.count} selected`}
      </p>
      <Button variant="ghost" size="sm" onClick={props.onAll}>
        {props.isAll ? 'None' : 'All'}
      </Button>
      <Button variant="ghost" size="sm" onClick={props.onDone}>
        Done
      </Button>
      <div className={styles.acts}>
        {props.onAsk !== undefined && (
          <Button variant="outline" size="sm" disabled={isNone} onClick={props.onAsk}>
            <MessageSquareText size={14} aria-hidden /> Ask about these
          </Button>
        )}
        {props.onDelete !== undefined && (
          <Button variant="outline" size="sm" disabled={isNone || props.isBusy} onClick={props.onDelete}>
            <Trash2 size={14} aria-hidden /> Delete
          </Button>
        )}
      </div>
    </div>
  )
}
