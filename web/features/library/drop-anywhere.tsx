import { useEffect, useRef, type JSX, type ReactNode } from 'react'
import { useDropzone } from 'react-dropzone'

import type { DocumentRow } from '#contract/document.ts'

import styles from './drop-anywhere.module.css'
import { pastedFiles } from './pasted-files.ts'
import { forgetUploads } from './upload-store.ts'
import { useUploadZone } from './use-upload-zone.ts'

interface DropAnywhereProps {
  /** Told of what was dropped onto the conversation, or pasted there; the library is for keeping. */
  onAddedToQuestion: (documents: DocumentRow[]) => void
  children: ReactNode
}

/**
 * Takes files that are dropped or pasted anywhere on the page, and adds nothing to its layout: their rows are shown by
 * the tray. Uploads end when it leaves.
 */
export function DropAnywhere({ onAddedToQuestion, children }: DropAnywhereProps): JSX.Element {
  const pastedAt = useRef<EventTarget | null>(null)
  const zone = useUploadZone('page', ({ type, target }) =>
    isAtConversation(type === 'drop' ? target : pastedAt.current) ? onAddedToQuestion : undefined,
  )
  const { getRootProps, getInputProps, inputRef, isDragActive } = useDropzone({
    ...zone,
    noClick: true,
    noKeyboard: true,
    noPaste: true,
  })
  useEffect(() => forgetUploads, [])

  useEffect(() => {
    const takePaste = (event: ClipboardEvent) => {
      const files = pastedFiles(event.clipboardData)
      if (!files) return
      event.preventDefault()
      pastedAt.current = event.target
      // Through the drop zone's own input, so that pasted files meet the same checks as dropped ones.
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

/** The main part of the page; or all of it, where somebody pastes while nothing has the focus. */
const isAtConversation = (target: EventTarget | null): boolean =>
  !(target instanceof Element) || target === document.body || target.closest('main') !== null
