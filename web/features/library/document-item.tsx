import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useRef, useState, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { deleteDocument } from '#web/data/documents.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Progress } from '#web/ui/progress.tsx'
import { toast } from '#web/ui/toast.tsx'

import { describeReadability, describeReading, documentFacts } from './describe-document.ts'
import styles from './document-item.module.css'
import { formatDate } from './format-date.ts'
import { RenameField } from './rename-field.tsx'

interface DocumentItemProps {
  document: DocumentRow
  onOpen: (documentId: string) => void
}

/** One document of the list, with what can be done to it. */
export function DocumentItem({ document, onOpen }: DocumentItemProps): JSX.Element {
  const [isRenaming, setRenaming] = useState(false)
  const renameButton = useRef<HTMLButtonElement>(null)
  const reading = describeReading(document)
  const remarks = describeReadability(document)

  return (
    <li className={styles.item} data-state={document.state}>
      <div className={styles.about}>
        {isRenaming ? (
          <RenameField
            document={document}
            onDone={() => {
              setRenaming(false)
              requestAnimationFrame(() => renameButton.current?.focus())
            }}
          />
        ) : (
          <button type="button" className={styles.name} title={document.filename} onClick={() => onOpen(document.id)}>
            {document.filename}
          </button>
        )}
        <p className={styles.facts}>
          {[...documentFacts(document), formatDate(document.uploaded_at)].map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
        {remarks.length > 0 && (
          <p className={styles.facts}>
            {remarks.map((remark) => (
              <span key={remark}>{remark}</span>
            ))}
          </p>
        )}
        {reading.tone !== 'ready' && (
          <p className={styles[reading.tone]} role="status">
            {reading.text}
          </p>
        )}
        {reading.tone === 'working' && (
          <div className={styles.progress}>
            <Progress
              value={reading.progress === null ? null : reading.progress * 100}
              label={`${document.filename}: ${reading.text}`}
            />
          </div>
        )}
      </div>
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
        <DeleteButton document={document} />
      </div>
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
        description={`Are you sure you want to delete “${document.filename}”? Its file and its text will be removed for good, and sources that cite it can no longer be opened.`}
        confirmLabel="Delete"
        onConfirm={confirm}
      />
    </>
  )
}
