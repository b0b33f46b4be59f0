import { useEffect, useRef, type JSX, type ReactNode } from 'react'

import { toast } from '#web/ui/toast.tsx'
import styles from './drop-anywhere.module.css'
import { announceFiles, giveFiles, hasFiles, holdChoice, holdDrop } from './given-files.ts'
import { pastedFiles } from './pasted-files.ts'
import { useDragging } from './use-dragging.ts'

function ignoreFiles(): void {
  // Their code is not needed.
}

type DropAnywhereProps = {
  /** The sentence that says why no files are taken here; null where they are. */
  refusal: string | null
  children: ReactNode
}

const refuse = (description: string): void => toast({ title: 'Nothing was added', description })

/** Takes files and folders dropped or pasted anywhere on the page. */
export function DropAnywhere({ refusal, children }: DropAnywhereProps): JSX.Element {
  const pastedAt = useRef<EventTarget | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const { isDragging, handlers } = useDragging(refusal === null ? announceFiles : ignoreFiles)

  useEffect(() => {
    const takePaste = (event: ClipboardEvent) => {
      const files = pastedFiles(event.clipboardData)
      if (!files || !input.current) return
      event.preventDefault()
      if (refusal !== null) return refuse(refusal)
      pastedAt.current = event.target
      // Pasted files go through the input, so that they meet the checks of chosen ones.
      input.current.files = files
      input.current.dispatchEvent(new Event('change', { bubbles: true }))
    }
    document.addEventListener('paste', takePaste)
    return () => document.removeEventListener('paste', takePaste)
  }, [refusal])

  useEffect(() => {
    // Files that miss this element, as on a dialog of its own, would take the place of the page.
    const keepPage = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault()
    }
    document.addEventListener('dragover', keepPage)
    document.addEventListener('drop', keepPage)
    return () => {
      document.removeEventListener('dragover', keepPage)
      document.removeEventListener('drop', keepPage)
    }
  }, [])

  return (
    <div
      role="presentation"
      className={styles.page}
      {...handlers}
      onDrop={(event) => {
        handlers.onDrop(event)
        if (!hasFiles(event)) return
        if (refusal !== null) return refuse(refusal)
        giveFiles({ type: 'dropped', event: holdDrop(event), at: event.target })
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
      {isDragging && refusal === null && (
        <div className={styles.frame}>
          <p className={styles.call}>Drop files here to upload</p>
        </div>
      )}
    </div>
  )
}
