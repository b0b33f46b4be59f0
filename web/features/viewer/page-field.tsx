import { ChevronDown, ChevronUp } from 'lucide-react'
import { useState, type JSX, type KeyboardEvent, type SubmitEvent } from 'react'

import styles from './page-field.module.css'
import { StepButton } from './step-button.tsx'

interface PageFieldProps {
  page: number
  count: number
  unit: 'Page' | 'Section' | 'Sheet'
  onGo: (page: number) => void
}

export function PageField({ page, count, unit, onGo }: PageFieldProps): JSX.Element {
  const [draft, setDraft] = useState<string | null>(null)

  const go = (event: SubmitEvent) => {
    event.preventDefault()
    const wanted = Number(draft)
    setDraft(null)
    if (Number.isInteger(wanted) && wanted >= 1) onGo(Math.min(wanted, count))
  }
  const drop = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || draft === null) return
    event.stopPropagation()
    setDraft(null)
  }

  return (
    <form className={styles.field} onSubmit={go}>
      <StepButton label={`Previous ${unit.toLowerCase()}`} isEnd={page <= 1} onPress={() => onGo(page - 1)}>
        <ChevronUp size={16} />
      </StepButton>
      <label className={styles.label}>
        <span className={styles.unit}>{unit}</span>
        <input
          className={styles.number}
          inputMode="numeric"
          style={{ width: `${String(count).length + 2}ch` }}
          value={draft ?? page}
          onChange={(event) => setDraft(event.target.value)}
          onFocus={(event) => event.target.select()}
          onBlur={() => setDraft(null)}
          onKeyDown={drop}
          data-own-escape={draft === null ? undefined : true}
        />
        <span>of {count}</span>
      </label>
      <StepButton label={`Next ${unit.toLowerCase()}`} isEnd={page >= count} onPress={() => onGo(page + 1)}>
        <ChevronDown size={16} />
      </StepButton>
    </form>
  )
}
