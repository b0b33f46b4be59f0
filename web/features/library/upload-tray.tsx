import { useQuery } from '@tanstack/react-query'
import { ChevronDown, X } from 'lucide-react'
import type { JSX } from 'react'

import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { useSpace } from '#web/data/current-space.ts'
import { Button } from '#web/ui/button.tsx'

import { setTrayOpen, useTrayOpen } from './tray-open.ts'
import { UploadAnnouncement } from './upload-announcement.tsx'
import { UploadControls } from './upload-controls.tsx'
import { UploadRows } from './upload-rows.tsx'
import { dismissUploads, missedChangesQuery, useUploads } from './upload-store.ts'
import { describeUploads, isMany, progressOf, stageOf } from './upload-summary.ts'
import styles from './upload-tray.module.css'
import { useLeaving } from './use-leaving.ts'
import { useShownUploads } from './use-shown-uploads.ts'

/** Uploads that no mounted upload area shows, and many files of which only the server knows. */
export function UploadTray(): JSX.Element | null {
  const space = useSpace()
  const { isPaused, uploads: all } = useUploads()
  const { isOpen: isChosenOpen } = useTrayOpen()
  const uploads = useShownUploads(null)
  const { data: counts } = useQuery(documentCountsQuery(space))
  useQuery(missedChangesQuery)
  useLeaving(uploads)

  const progress = progressOf(uploads, counts)
  const isUnderWay = progress.done < progress.total
  if (uploads.length === 0 && !(all.length === 0 && isUnderWay && isMany(progress.total))) return null
  // Failures stay until they are dismissed, in the collapsed tray.
  const isOpen = isChosenOpen ?? uploads.some((upload) => stageOf(upload) === 'under way')
  const text = describeUploads(uploads, progress)
  return (
    <section className={styles.tray} aria-label="Uploads">
      <UploadAnnouncement uploads={uploads} />
      <div className={styles.content}>
        <header className={styles.header}>
          {uploads.length === 0 ? (
            <p className={styles.line}>{text}</p>
          ) : (
            <button type="button" className={styles.title} aria-expanded={isOpen} onClick={() => setTrayOpen(!isOpen)}>
              <ChevronDown size={16} className={styles.chevron} aria-hidden />
              {text}
            </button>
          )}
          <UploadControls progress={progress} isPaused={isPaused || (counts?.paused ?? 0) > 0} />
          {uploads.length > 0 && (
            <Button variant="ghost" size="icon" aria-label="Hide uploads" className={styles.close} onClick={dismissAll}>
              <X size={16} />
            </Button>
          )}
        </header>
        {isOpen && (
          <div className={styles.rows}>
            <UploadRows uploads={uploads} />
          </div>
        )}
      </div>
    </section>
  )
}

/** Uploads under way continue; their documents appear in the list. */
function dismissAll(): void {
  const { uploads, areas } = useUploads.getState()
  dismissUploads(uploads.filter(({ zone }) => !areas.includes(zone)).map(({ key }) => key))
}
