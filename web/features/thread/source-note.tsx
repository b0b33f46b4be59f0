import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { documentsQuery } from '#web/data/documents.ts'
import { relevancePercent } from '#web/lib/relevance.ts'
import { classNames } from '#web/ui/class-names.ts'
import { useAnswer } from './answer-context.tsx'
import styles from './source-note.module.css'

/** A source of an answer: its file and page, the passage and its relevance. Opens the document at the passage. */
export function SourceNote({ n, placement }: { n: number; placement: 'margin' | 'card' }): JSX.Element | null {
  const { sources, pointedAt, pointAt, open } = useAnswer()
  const { data: documents } = useQuery(documentsQuery())
  const source = sources.get(n)
  if (source === undefined) return null
  const current = documents?.find((document) => document.id === source.documentId)
  const deleted = documents !== undefined && current === undefined
  const relevance = relevancePercent(source.score, [...sources.values()])
  return (
    <aside
      className={classNames(styles.note, styles[placement], pointedAt === n && styles.pointed)}
      onMouseEnter={() => pointAt(n)}
      onMouseLeave={() => pointAt(null)}
    >
      <button
        type="button"
        className={styles.open}
        disabled={deleted}
        data-source={n}
        onFocus={() => pointAt(n)}
        onBlur={() => pointAt(null)}
        onClick={(event) => open(n, event.currentTarget)}
      >
        <span className={styles.number} aria-hidden>
          {n}
        </span>
        <span className={styles.name}>
          Source: {current?.filename ?? source.filename} p.{source.page}
        </span>
        <span className={styles.passage}>{source.text}</span>
        <span className={styles.meta}>{deleted ? 'This document was deleted.' : `${relevance}% relevance`}</span>
      </button>
    </aside>
  )
}
