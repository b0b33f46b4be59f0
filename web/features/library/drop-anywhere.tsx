import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, type JSX, type ReactNode } from 'react'
import { useDropzone } from 'react-dropzone'

import type { DocumentRow } from '#contract/document.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'

import styles from './drop-anywhere.module.css'
import { pastedFiles } from './pasted-files.ts'
import { openUploads, PAGE_ZONE } from './upload-store.ts'
import { useUploadZone } from './use-upload-zone.ts'

interface DropAnywhereProps {
  /** Called for files dropped on or pasted into the conversation, not for those added to the library. */
  onAddedToQuestion: (documents: DocumentRow[]) => void
  children: ReactNode
}

/** Takes files and folders dropped or pasted anywhere on the page. Unmounting aborts the uploads. */
export function DropAnywhere({ onAddedToQuestion, children }: DropAnywhereProps): JSX.Element {
  const queryClient = useQueryClient()
  const { id: userId } = useUser()
  const pastedAt = useRef<EventTarget | null>(null)
  const zone = useUploadZone(PAGE_ZONE, ({ type, target }) =>
    isAtConversation(type === 'drop' ? target : pastedAt.current) ? onAddedToQuestion : undefined,
  )
  const { getRootProps, getInputProps, inputRef, isDragActive } = useDropzone({
    ...zone,
    noClick: true,
    noKeyboard: true,
    noPaste: true,
  })
  useEffect(() => openUploads(queryClient, userId), [queryClient, userId])

  useEffect(() => {
    const takePaste = (event: ClipboardEvent) => {
      const files = pastedFiles(event.clipboardData)
      if (!files) return
      event.preventDefault()
      pastedAt.current = event.target
      // Pasted files go through the drop zone's input, so that they meet its checks.
      inputRef.current.files = files
      inputRef.current.dispatchEvent(new Event('change', { bubbles: true }))
    }
    document.addEventListener('paste', takePaste)
    return () => document.removeEventListener('paste', takePaste)
  }, [inputRef])

  return (
    <div {...getRootProps({ className: styles.page })}>
      <input {...getInputProps({ 'aria-hidden': true, tabIndex: -1 })} />
      {children}
      {isDragActive && (
        <div className={styles.frame}>
          <p className={styles.call}>Drop files here to upload</p>
        </div>
      )}
    </div>
  )
}

/** True inside the main part of the page, and for a paste while nothing has the focus. */
const isAtConversation = (target: EventTarget | null): boolean =>
  !(target instanceof Element) || target === document.body || target.closest('main') !== null
