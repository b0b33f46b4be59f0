import { useEffect, useRef, type JSX, type ReactNode } from 'react'

import styles from './drop-anywhere.module.css'
import { announceFiles, giveFiles, hasFiles, holdChoice, holdDrop } from './given-files.ts'
import { pastedFiles } from './pasted-files.ts'
import { useDragging } from './use-dragging.ts'

/** Takes files and folders dropped or pasted anywhere on the page. */
export function DropAnywhere({ children }: { children: ReactNode }): JSX.Element {
  const pastedAt = useRef<EventTarget | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const { isDragging, handlers } = useDragging(announceFiles)

  useEffect(() => {
    const takePaste = (event: ClipboardEvent) => {
      const files = pastedFiles(event.clipboardData)
      if (!files || !input.current) return
      event.preventDefault()
      pastedAt.current = event.target
      // Pasted files go through the input, so that they meet the checks of chosen ones.
      input.current.files = files
      input.current.dispatchEvent(new Event('change', { bubbles: true }))
    }
    document.addEventListener('paste', takePaste)
    return () => document.removeEventListener('paste', takePaste)
  }, [])

  return (
    <div
      role="presentation"
      className={styles.page}
      {...handlers}
      onDrop={(event) => {
        handlers.onDrop(event)
        if (hasFiles(event)) giveFiles({ type: 'dropped', event: holdDrop(event), at: event.target })
      }}
    >
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-hidden
        tabIndex={-1}
        onChange={(event) => giveFiles({ type: 'chosen', event: holdChoice(event), at: pastedAt.current })}
      />
      {children}
      {isDragging && (
        <div className={styles.frame}>
          <p className={styles.call}>Drop files here to upload</p>
        </div>
      )}
    </div>
  )
}
