import { useQuery } from '@tanstack/react-query'
import { ChevronDown, X } from 'lucide-react'
import { useEffect, useState, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { documentsQuery } from '#web/data/documents.ts'
import { Button } from '#web/ui/button.tsx'

import type { Upload } from './upload-list.ts'
import { UploadRows } from './upload-rows.tsx'
import { dismissUpload, useUploads } from './upload-store.ts'
import { describeUploads, stageOf } from './upload-summary.ts'
import styles from './upload-tray.module.css'

/** A file that has been read leaves the tray by itself. */
const LINGER_MS = 5000

/** The rows of the uploads that no upload area on the page shows: dropped elsewhere, or their area is gone. */
export function UploadTray(): JSX.Element | null {
  const { uploads: all, areas } = useUploads()
  const documents = useQuery(documentsQuery())
  const [isOpened, setOpened] = useState<boolean>()
  const uploads = all.filter(({ zone }) => !areas.includes(zone))
  useLeaving(uploads, documents.data)

  if (uploads.length === 0) return null
  const stages = uploads.map((upload) => stageOf(upload, documents.data))
  // What went wrong stays until it is read, but out of the way of the page.
  const isOpen = isOpened ?? stages.some((stage) => stage === 'under way')
  return (
    <section className={styles.tray} aria-label="Uploads">
      <header className={styles.header}>
        <button type="button" className={styles.title} aria-expanded={isOpen} onClick={() => setOpened(!isOpen)}>
          <ChevronDown size={16} className={styles.chevron} aria-hidden />
          {describeUploads(stages)}
        </button>
        <Button variant="ghost" size="icon" aria-label="Hide uploads" className={styles.close} onClick={dismissAll}>
          <X size={16} />
        </Button>
      </header>
      {isOpen && (
        <div className={styles.rows}>
          <UploadRows uploads={uploads} />
        </div>
      )}
    </section>
  )
}

/** Takes the rows of files that have been read away, a little later than they were. */
function useLeaving(uploads: readonly Upload[], documents: readonly DocumentRow[] | undefined): void {
  const readKeys = uploads.filter((upload) => stageOf(upload, documents) === 'read').map(({ key }) => key)
  const joined = readKeys.join(' ')
  useEffect(() => {
    if (joined === '') return
    const timer = setTimeout(() => joined.split(' ').forEach(dismissUpload), LINGER_MS)
    return () => clearTimeout(timer)
  }, [joined])
}

/** Uploads that are under way go on; their documents appear in the list. */
function dismissAll(): void {
  const { uploads, areas } = useUploads.getState()
  for (const { key, zone } of uploads) if (!areas.includes(zone)) dismissUpload(key)
}
