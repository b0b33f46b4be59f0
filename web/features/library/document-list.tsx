import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type ComponentType, type JSX, type RefObject } from 'react'
import { flushSync } from 'react-dom'

import type { DocumentRow, NamedDocument } from '#contract/document.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { useSpace } from '#web/data/current-space.ts'
import { mayEdit } from '#web/data/spaces/space-rights.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { documentList, previewOfDocuments } from '#web/data/documents/paged-documents.ts'
import { usePagedList, type PagedRows } from '#web/data/use-paged-list.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { VirtualRows } from '#web/ui/virtual-rows.tsx'

import { NEWEST_FIRST, nextArrangement, type Arrangement } from './arrangement.ts'
import { DocumentItem } from './document-item.tsx'
import styles from './document-list.module.css'
import { LibraryLoading } from './library-loading.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { useDeleteMany } from './use-delete-many.ts'
import { useSelection } from './use-selection.ts'

/** Number of documents from which a name filter is shown. */
const FILTER_FROM = 9
/** Pixels; drawn rows are measured. */
const ROW_HEIGHT = 73

interface DocumentListProps {
  onOpen: (documentId: string) => void
  openId: string | null
  label: string
  /** Whether to show the label as a heading; false where the surroundings already have one. */
  titled?: boolean
  onAsk?: ((documents: readonly NamedDocument[]) => void) | undefined
  /** A further action of a document. */
  Move: ComponentType<{ document: DocumentRow }>
}

export default function DocumentList(props: DocumentListProps): JSX.Element {
  const { onOpen, openId, label, titled = false, onAsk, Move } = props
  const queryClient = useQueryClient()
  const space = useSpace()
  const place = useCurrentSpace()
  const mayChange = !place || mayEdit(place)
  const { data: counts } = useQuery(documentCountsQuery(space))
  const [text, setText] = useState('')
  const [arrangement, setArrangement] = useState(NEWEST_FIRST)
  const total = counts?.total ?? 0
  const isFiltered = total >= FILTER_FROM
  const search = isFiltered ? text.trim() : ''
  const view = useMemo(() => ({ space, search, ...arrangement }), [space, search, arrangement])
  const preview = useMemo(() => previewOfDocuments(queryClient, view), [queryClient, view])
  const documents = usePagedList(documentList, view, preview)
  const { rows } = documents

  const [isAsking, setAsking] = useState(false)
  const selectButton = useRef<HTMLButtonElement>(null)
  const section = useFocusAfterRemoval(rows.length)
  const [focusedRow, setFocusedRow] = useState<number>()
  const { isBusy, deleteAll } = useDeleteMany()
  const focusRow = (index: number): void => {
    flushSync(() => setFocusedRow(index))
    section.current?.querySelector<HTMLElement>(`[data-index="${index}"] input`)?.focus()
  }
  const selection = useSelection({
    shown: { ...documents, space, search },
    onDelete: () => setAsking(mayChange),
    focusRow,
  })
  const { chosen } = selection
  const begin = (): void => {
    selection.begin()
    requestAnimationFrame(() => focusRow(0))
  }
  const end = (): void => {
    selection.end()
    requestAnimationFrame(() => selectButton.current?.focus())
  }

  return (
    <section ref={section} tabIndex={-1} className={styles.library} aria-label={label}>
      <header className={styles.header}>
        {titled && <h2 className={styles.heading}>{label}</h2>}
        {total > 1 && chosen === null && (
          <div className={styles.arrange}>
            <button ref={selectButton} type="button" className={styles.column} onClick={begin}>
              Select
            </button>
            <Arrange now={arrangement} onChange={setArrangement} />
          </div>
        )}
      </header>
      {chosen !== null && (
        <SelectionBar
          count={chosen.length}
          isAll={selection.isAll}
          isBusy={isBusy}
          onAll={selection.chooseAll}
          onDelete={mayChange ? () => setAsking(true) : undefined}
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
      <ListNotes documents={documents} search={search} onClear={() => setText('')} />
      {rows.length > 0 && (
        <VirtualRows
          rows={rows}
          keyOf={({ id }) => id}
          estimatedHeight={ROW_HEIGHT}
          hasMore={documents.hasMore}
          onNearEnd={documents.failedToReadMore ? undefined : documents.readMore}
          alsoDrawn={focusedRow}
          className={styles.rows}
          onKeyDown={(event) => {
            selection.onKeyDown(event)
            if (event.key === 'Escape' && chosen !== null) end()
          }}
        >
          {(document, item) => (
            <DocumentItem
              mayChange={mayChange}
              Move={Move}
              key={document.id}
              document={document}
              onOpen={onOpen}
              isOpen={document.id === openId}
              selection={selection.rowOf(document)}
              item={item}
            />
          )}
        </VirtualRows>
      )}
      {documents.failedToReadMore && (
        <div className={styles.note} role="alert">
          <p>More of your documents could not be loaded.</p>
          <Button variant="outline" size="sm" onClick={documents.readMore}>
            Try again
          </Button>
        </div>
      )}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Delete Documents"
        description={`Are you sure you want to delete ${chosen?.length === 1 ? 'this document' : `these ${chosen?.length ?? 0} documents`}? Files and texts will be removed for good, and sources that cite them can no longer be opened.`}
        confirmLabel="Delete"
        onConfirm={() => {
          void deleteAll((chosen ?? []).map(({ id }) => id)).then(end)
        }}
      />
    </section>
  )
}

interface ListNotesProps {
  documents: PagedRows<DocumentRow>
  search: string
  onClear: () => void
}

function ListNotes({ documents, search, onClear }: ListNotesProps): JSX.Element {
  const isEmpty = !documents.isPending && !documents.isError && !documents.isOutdated && documents.rows.length === 0
  return (
    <>
      {documents.isPending && <LibraryLoading />}
      {documents.isError && (
        <div className={styles.note} role="alert">
          <p>Your documents could not be loaded.</p>
          <Button variant="outline" size="sm" onClick={documents.reload}>
            Try again
          </Button>
        </div>
      )}
      {isEmpty && search === '' && (
        <div className={styles.note}>
          <p>No documents yet.</p>
          <p className={styles.soft}>Drop a file anywhere on this page, and ask about it once it has been read.</p>
        </div>
      )}
      {isEmpty && search !== '' && (
        <div className={styles.note}>
          <p>No document has “{search}” in its name.</p>
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
