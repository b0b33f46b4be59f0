import { useState, type JSX } from 'react'
import styles from '#web/features/thread/message/message.module.css'
import { Button } from '#web/ui/button.tsx'
import { SourceNote } from './source-note.tsx'

type SourceCardsProps = {
  numbers: readonly number[]
  /** The answer cites them or the person selected them. Sources that only the model saw are hidden. */
  areMeant: boolean
}

/** More cards could push the answer off the page. */
const AT_FIRST = 4

export function SourceCards({ numbers, areMeant }: SourceCardsProps): JSX.Element | null {
  const [all, setAll] = useState(false)
  if (numbers.length === 0) return null
  const shown = all ? numbers : numbers.slice(0, areMeant ? AT_FIRST : 0)
  return (
    <>
      {shown.length > 0 && (
        <div className={styles.cards}>
          {shown.map((n) => (
            <SourceNote key={n} n={n} placement="card" />
          ))}
        </div>
      )}
      {shown.length < numbers.length && (
        <Button variant="link" className={styles.more} onClick={() => setAll(true)}>
          {areMeant
            ? `Show all ${numbers.length} sources`
            : `Show ${numbers.length === 1 ? 'the source' : `the ${numbers.length} sources`} that it was given`}
        </Button>
      )}
    </>
  )
}
