import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useState, type JSX } from 'react'

import { documentsQuery } from '#web/data/documents.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'

import { arrangeDocuments, NEWEST_FIRST, nextArrangement, type Arrangement } from './arrange-documents.ts'
import { DocumentItem } from './document-item.tsx'
import styles from './document-list.module.css'

/** With fewer documents a look is quicker than typing. */
const FILTER_FROM = 9

interface DocumentListProps {
  onOpen: (documentId: string) => void
  heading: string
}

/** The person's documents: open, rename, delete, sort, and filter once there are many. */
export function DocumentList({ onOpen, heading }: DocumentListProps): JSX.Element {
  const documents = useQuery(documentsQuery())
  const [text, setText] = useState('')
  const [arrangement, setArrangement] = useState(NEWEST_FIRST)
  const count = documents.data?.length ?? 0
  const isFiltered = count >= FILTER_FROM
  const shown = arrangeDocuments(documents.data ?? [], isFiltered ? text : '', arrangement)

  return (
    <section className={styles.library} aria-label={heading}>
      <header className={styles.header}>
        <h2 className={styles.heading}>{heading}</h2>
        {count > 1 && <Arrange now={arrangement} onChange={setArrangement} />}
      </header>
      {isFiltered && (
        <input
          type="search"
          className={styles.filter}
          placeholder="Filter by name"
          aria-label="Filter documents by name"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {documents.isPending && (
        <p className={styles.pending} role="status">
          <Spinner /> Loading your documents
        </p>
      )}
      {documents.isError && (
        <div className={styles.note} role="alert">
          <p>Your documents could not be loaded.</p>
          <Button variant="outline" size="sm" onClick={() => void documents.refetch()}>
            Try again
          </Button>
        </div>
      )}
      {documents.data && count === 0 && (
        <div className={styles.note}>
          <p>No documents yet.</p>
          <p className={styles.soft}>Drop a file anywhere on this page, and ask about it once it has been read.</p>
        </div>
      )}
      {count > 0 && shown.length === 0 && (
        <div className={styles.note}>
          <p>No document has “{text.trim()}” in its name.</p>
          <Button variant="outline" size="sm" onClick={() => setText('')}>
            Show all
          </Button>
        </div>
      )}
      {shown.length > 0 && (
        <ul className={styles.rows}>
          {shown.map((document) => (
            <DocumentItem key={document.id} document={document} onOpen={onOpen} />
          ))}
        </ul>
      )}
    </section>
  )
}

const COLUMNS = [
  ['name', 'Name'],
  ['date', 'Date'],
] as const

function Arrange({ now, onChange }: { now: Arrangement; onChange: (next: Arrangement) => void }): JSX.Element {
  const Arrow = now.descending ? ArrowDown : ArrowUp
  return (
    <div className={styles.arrange} role="group" aria-label="Sort by">
      {COLUMNS.map(([by, label]) => (
        <button
          key={by}
          type="button"
          className={styles.column}
          aria-pressed={now.by === by}
          aria-label={`Sort by ${by}${now.by === by ? `, ${now.descending ? 'descending' : 'ascending'}` : ''}`}
          onClick={() => onChange(nextArrangement(now, by))}
        >
          {label}
          {now.by === by && <Arrow size={13} aria-hidden />}
        </button>
      ))}
    </div>
  )
}
