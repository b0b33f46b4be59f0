import { useState, type JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import { SourceNote } from './source-note.tsx'
import styles from './message.module.css'

type SourceCardsProps = {
  numbers: readonly number[]
  /** How many are shown before the rest is asked for: all at once could push their answer off the page. */
  atFirst: number
}

/** The sources of an answer as cards under it, the best ones at first. */
export function SourceCards({ numbers, atFirst }: SourceCardsProps): JSX.Element | null {
  const [all, setAll] = useState(false)
  if (numbers.length === 0) return null
  const shown = all ? numbers : numbers.slice(0, atFirst)
  return (
    <>
      <div className={styles.cards}>
        {shown.map((n) => (
          <SourceNote key={n} n={n} placement="card" />
        ))}
      </div>
      {shown.length < numbers.length && (
        <Button variant="link" className={styles.more} onClick={() => setAll(true)}>
          Show all {numbers.length} sources
        </Button>
      )}
    </>
  )
}
