import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, type JSX } from 'react'

import { documentsQuery } from '#web/data/documents.ts'
import { Button } from '#web/ui/button.tsx'

import { UploadRows } from './upload-rows.tsx'
import { dismissUpload, useUploads } from './upload-store.ts'
import styles from './upload-tray.module.css'

/** A tray whose files have all been read goes by itself. */
const LINGER_MS = 5000

/** The rows of the uploads that no upload area on the page shows: dropped elsewhere, or their area is gone. */
export function UploadTray(): JSX.Element | null {
  const { uploads: all, areas } = useUploads()
  const uploads = all.filter(({ zone }) => !areas.includes(zone))
  const documents = useQuery(documentsQuery())
  const isShown = uploads.length > 0
  const isOver = uploads.every(({ step }) => {
    if (step.at !== 'taken') return false
    const document = documents.data?.find(({ id }) => id === step.document.id)
    return document?.state === 'ready'
  })

  useEffect(() => {
    if (!isShown || !isOver) return
    const timer = setTimeout(dismissAll, LINGER_MS)
    return () => clearTimeout(timer)
  }, [isShown, isOver])

  if (!isShown) return null
  return (
    <section className={styles.tray} aria-label="Uploads">
      <header className={styles.header}>
        <h2 className={styles.title}>Uploads</h2>
        <Button variant="ghost" size="icon" aria-label="Hide uploads" className={styles.close} onClick={dismissAll}>
          <X size={16} />
        </Button>
      </header>
      <div className={styles.rows}>
        <UploadRows uploads={uploads} />
      </div>
    </section>
  )
}

/** Uploads that are under way go on; their documents appear in the list. */
function dismissAll(): void {
  const { uploads, areas } = useUploads.getState()
  for (const { key, zone } of uploads) if (!areas.includes(zone)) dismissUpload(key)
}
