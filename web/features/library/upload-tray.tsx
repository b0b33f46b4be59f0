import { useQuery } from '@tanstack/react-query'
import { ChevronDown, X } from 'lucide-react'
import type { JSX } from 'react'

import { Button } from '#web/ui/button.tsx'

import { UploadRows } from './upload-rows.tsx'
import { dismissUploads, missedChangesQuery, setTrayOpen, useUploads } from './upload-store.ts'
import { describeUploads, stageOf } from './upload-summary.ts'
import styles from './upload-tray.module.css'
import { useLeaving } from './use-leaving.ts'
import { useShownUploads } from './use-shown-uploads.ts'

/** Rows of uploads that no mounted upload area shows. */
export function UploadTray(): JSX.Element | null {
  const isTrayOpen = useUploads((state) => state.isTrayOpen)
  const uploads = useShownUploads(null)
  useQuery(missedChangesQuery)
  useLeaving(uploads)

  if (uploads.length === 0) return null
  const stages = uploads.map(stageOf)
  // Failures stay until they are dismissed, in the collapsed tray.
  const isOpen = isTrayOpen ?? stages.some((stage) => stage === 'under way')
  return (
    <section className={styles.tray} aria-label="Uploads">
      <div className={styles.content}>
        <header className={styles.header}>
          <button type="button" className={styles.title} aria-expanded={isOpen} onClick={() => setTrayOpen(!isOpen)}>
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
      </div>
    </section>
  )
}

/** Uploads under way continue; their documents appear in the list. */
function dismissAll(): void {
  const { uploads, areas } = useUploads.getState()
  dismissUploads(uploads.filter(({ zone }) => !areas.includes(zone)).map(({ key }) => key))
}
