import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useState, type ComponentType, type JSX } from 'react'

import { nameWithFolder, type DocumentRow } from '#contract/document.ts'
import { deleteDocument } from '#web/data/documents/document-mutations.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Progress } from '#web/ui/progress.tsx'
import { toast } from '#web/ui/toast.tsx'
import { useFocusAfterField } from '#web/ui/use-focus-after-field.ts'
import type { VirtualRow } from '#web/ui/virtual-rows.tsx'

import { AddVersionButton } from './add-version-button.tsx'
import { describeReadability, describeProgress, documentFacts } from '#web/lib/documents/describe-document.ts'
import { formatDay } from '#web/lib/format/format-day.ts'
import styles from './document-item.module.css'
import { ReadingReport } from './reading-report.tsx'
import { RenameField } from './rename-field.tsx'
import type { RowSelection } from './use-selection.ts'

interface DocumentItemProps {
  document: DocumentRow
  onOpen: (documentId: string) => void
  isOpen: boolean
  /** False for readers of a space. */
  mayChange: boolean
  Move: ComponentType<{ document: DocumentRow }>
  /** Set while rows are being selected, which leaves no room for other actions. */
  selection: RowSelection | undefined
  item: VirtualRow
}

export function DocumentItem(props: DocumentItemProps): JSX.Element {
  const { document, onOpen, isOpen, mayChange, Move, selection, item } = props
  const [isRenaming, setRenaming] = useState(false)
  const renameButton = useFocusAfterField(isRenaming)
  const reading = describeProgress(document)
  const remarks = describeReadability(document)

  return (
    <li
      {...item}
      className={classNames(item.className, styles.item, isOpen && styles.open)}
      data-state={document.state}
      data-own-escape={selection === undefined ? undefined : true}
    >
      {selection !== undefined && (
        <input
          type="checkbox"
          className={styles.check}
          aria-label={`Select ${document.filename}`}
          checked={selection.isSelected}
          onChange={({ nativeEvent }) => selection.choose(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
        />
      )}
      <div className={styles.about}>
        {isRenaming ? (
          <RenameField document={document} onDone={() => setRenaming(false)} />
        ) : (
          <button
            type="button"
            className={styles.name}
            dir="auto"
            title={nameWithFolder(document)}
            aria-current={isOpen ? 'true' : undefined}
            onClick={() => onOpen(document.id)}
          >
            {document.filename}
          </button>
        )}
        <p className={styles.facts}>
          {[...documentFacts(document), formatDay(document.uploaded_at, 'short')].map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
        {remarks.length > 0 && <ReadingReport document={document} remarks={remarks} />}
        {reading.tone !== 'ready' && <p className={styles[reading.tone]}>{reading.text}</p>}
        {reading.tone === 'working' && reading.progress !== null && (
          <div className={styles.progress}>
            <Progress value={reading.progress * 100} label={`${document.filename}: ${reading.text}`} />
          </div>
        )}
      </div>
      {selection === undefined && !isRenaming && mayChange && (
        <div className={styles.actions}>
          <Button
            ref={renameButton}
            variant="ghost"
            size="icon"
            aria-label={`Rename ${document.filename}`}
            onClick={() => setRenaming(true)}
          >
            <Pencil size={15} />
          </Button>
          <AddVersionButton document={document} />
          <Move document={document} />
          <DeleteButton document={document} />
        </div>
      )}
    </li>
  )
}

function DeleteButton({ document }: { document: DocumentRow }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const remove = useMutation(deleteDocument(useQueryClient()))
  const confirm = () =>
    remove.mutate(document.id, {
      onError: (error) => {
        console.error(error)
        toast({ title: 'Error', description: 'Failed to delete document. Please try again.', variant: 'destructive' })
      },
    })
  return (
    <>
      <Button
        variant="ghost"
        size="icon"
        aria-label={`Delete ${document.filename}`}
        disabled={remove.isPending}
        onClick={() => setAsking(true)}
      >
        <Trash2 size={15} />
      </Button>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Delete Document"
        description={`Are you sure you want to delete “${document.filename}”? ${document.version > 1 && document.state === 'ready' ? 'All its versions' : 'Its file and its text'} will be removed for good, and sources that cite it can no longer be opened.`}
        confirmLabel="Delete"
        onConfirm={confirm}
      />
    </>
  )
}
