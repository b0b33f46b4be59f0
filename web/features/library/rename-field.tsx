import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type JSX, type KeyboardEvent } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { renameDocument } from '#web/data/documents/document-mutations.ts'
import { toast } from '#web/ui/toast.tsx'

import styles from './document-item.module.css'

/** Name field: Enter or blur saves, Escape discards. An empty name changes nothing. */
export function RenameField({ document, onDone }: { document: DocumentRow; onDone: () => void }): JSX.Element {
  const [before] = useState(document.filename)
  const [name, setName] = useState(before)
  const rename = useMutation(renameDocument(useQueryClient()))

  const save = () => {
    const filename = name.trim()
    if (rename.isPending) return
    if (filename === '' || filename === before) return onDone()
    rename.mutate(
      { id: document.id, filename },
      {
        onSuccess: onDone,
        onError: (error) => {
          console.error(error)
          toast({ title: 'Error', description: 'Failed to rename document. Please try again.', variant: 'destructive' })
        },
      },
    )
  }

  const decide = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') {
      // Otherwise the button, which receives the focus without a change, would be pressed too.
      event.preventDefault()
      save()
    }
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onDone()
  }

  return (
    <input
      className={styles.field}
      aria-label={`New name of ${document.filename}`}
      value={name}
      maxLength={255}
      readOnly={rename.isPending}
      ref={selectStem}
      onChange={(event) => setName(event.target.value)}
      onKeyDown={decide}
      onBlur={save}
      data-own-escape
    />
  )
}

/** Selects the name without its extension, backwards, so that its start stays in view. */
function selectStem(field: HTMLInputElement | null): void {
  if (!field) return
  field.focus()
  const dot = field.value.lastIndexOf('.')
  field.setSelectionRange(0, dot > 0 ? dot : field.value.length, 'backward')
}
