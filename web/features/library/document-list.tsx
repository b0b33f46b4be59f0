import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useRef, useState, type JSX, type RefObject } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { documentsQuery } from '#web/data/documents/document-queries.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Spinner } from '#web/ui/spinner.tsx'

import { arrangeDocuments, NEWEST_FIRST, nextArrangement, type Arrangement } from './arrange-documents.ts'
import { DocumentItem } from './document-item.tsx'
import styles from './document-list.module.css'
import { SelectionBar } from './selection-bar.tsx'
import { useDeleteMany } from './use-delete-many.ts'
import { useSelection } from './use-selection.ts'

/** Number of documents from which a name filter is shown. */
const FILTER_FROM = 9

interface DocumentListProps {
  onOpen: (documentId: string) => void
  openId: string | null
  label: string
  /** Whether to show the label as a heading; false where the surroundings already have one. */
  titled?: boolean
  onAsk?: ((documents: readonly DocumentRow[]) => void) | undefined
}

export function DocumentList({ onOpen, openId, label, titled = false, onAsk }: DocumentListProps): JSX.Element {
  const documents = useQuery(documentsQuery())
  const [text, setText] = useState('')
  const [arrangement, setArrangement] = useState(NEWEST_FIRST)
  const count = documents.data?.length ?? 0
  const isFiltered = count >= FILTER_FROM
  const shown = arrangeDocuments(documents.data ?? [], isFiltered ? text : '', arrangement)

  const [isAsking, setAsking] = useState(false)
  const list = useRef<HTMLUListElement>(null)
  const selectButton = useRef<HTMLButtonElement>(null)
  const { isBusy, deleteAll } = useDeleteMany()
  const selection = useSelection(
    shown.map(({ id }) => id),
    () => setAsking(true),
  )
  const chosen = shown.filter(({ id }) => selection.ids?.has(id) === true)
  const section = useFocusAfterRemoval(count)
  const begin = (): void => {
    selection.begin()
    requestAnimationFrame(() => list.current?.querySelector('input')?.focus())
  }
  const end = (): void => {
    selection.end()
    requestAnimationFrame(() => selectButton.current?.focus())
  }

  return (
    <section ref={section} tabIndex={-1} className={styles.library} aria-label={label}>
      <header className={styles.header}>
        {titled && <h2 className={styles.heading}>{label}</h2>}
        {count > 1 && selection.ids === null && (
          <div className={styles.arrange}>
            <button ref={selectButton} type="button" className={styles.column} onClick={begin}>
              Select
            </button>
            <Arrange now={arrangement} onChange={setArrangement} />
          </div>
        )}
      </header>
      {selection.ids !== null && (
        <SelectionBar
          count={chosen.length}
          isAll={chosen.length === shown.length}
          isBusy={isBusy}
          onAll={selection.chooseAll}
          onDelete={() => setAsking(true)}
          onDone={end}
          onAsk={
            onAsk &&
            (() => {
              onAsk(chosen)
              selection.end()
            })
          }
        />
      )}
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
      <ListNotes
        documents={documents}
        count={count}
        hasMatch={shown.length > 0}
        text={text}
        onClear={() => setText('')}
      />
      {shown.length > 0 && (
        <ul
          ref={list}
          className={styles.rows}
          onKeyDown={(event) => {
            selection.onKeyDown(event)
            if (event.key === 'Escape' && selection.ids !== null) end()
          }}
        >
          {shown.map((document) => (
            <DocumentItem
              key={document.id}
              document={document}
              onOpen={onOpen}
              isOpen={document.id === openId}
              selection={selection.rowOf(document.id)}
            />
          ))}
        </ul>
      )}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Delete Documents"
        description={`Are you sure you want to delete ${chosen.length === 1 ? 'this document' : `these ${chosen.length} documents`}? Files and texts will be removed for good, and sources that cite them can no longer be opened.`}
        confirmLabel="Delete"
        onConfirm={() => {
          void deleteAll(chosen.map(({ id }) => id)).then(end)
        }}
      />
    </section>
  )
}

interface ListNotesProps {
  documents: UseQueryResult<DocumentRow[]>
  count: number
  hasMatch: boolean
  text: string
  onClear: () => void
}

function ListNotes({ documents, count, hasMatch, text, onClear }: ListNotesProps): JSX.Element {
  return (
    <>
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
      {count > 0 && !hasMatch && (
        <div className={styles.note}>
          <p>No document has “{text.trim()}” in its name.</p>
          <Button variant="outline" size="sm" onClick={onClear}>
            Show all
          </Button>
        </div>
      )}
    </>
  )
}

/** Returns the ref of the section that takes the focus when a removed row has lost it to the body. */
function useFocusAfterRemoval(count: number): RefObject<HTMLElement | null> {
  const section = useRef<HTMLElement>(null)
  const before = useRef(count)
  useEffect(() => {
    if (count < before.current && document.activeElement === document.body)
      section.current?.focus({ preventScroll: true })
    before.current = count
  }, [count])
  return section
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
