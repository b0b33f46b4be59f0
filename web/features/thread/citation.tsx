import type { JSX } from 'react'
import { splitCitations } from '#web/lib/citations.ts'
import { classNames } from '#web/ui/class-names.ts'
import { useAnswer } from './answer-context.tsx'
import styles from './citation.module.css'

/** The number of a source, set as a small superscript chip; opens the source. */
function Citation({ n }: { n: number }): JSX.Element {
  const { sources, pointedAt, pointAt, open } = useAnswer()
  const source = sources.get(n)
  return (
    <sup className={styles.marker}>
      <button
        type="button"
        className={classNames(styles.chip, pointedAt === n && styles.pointed)}
        aria-label={source === undefined ? `Source ${n}` : `Source ${n}: ${source.filename} page ${source.page}`}
        data-citation={n}
        onMouseEnter={() => pointAt(n)}
        onMouseLeave={() => pointAt(null)}
        onFocus={() => pointAt(n)}
        onBlur={() => pointAt(null)}
        onClick={(event) => open(n, event.currentTarget)}
      >
        {n}
      </button>
    </sup>
  )
}

/** Plain text of an answer with its markers in place. */
export function CitedText({ text }: { text: string }): JSX.Element {
  const { numbers } = useAnswer()
  return (
    <>
      {splitCitations(text, numbers).map((piece, index) =>
        typeof piece === 'number' ? <Citation key={index} n={piece} /> : piece,
      )}
    </>
  )
}
