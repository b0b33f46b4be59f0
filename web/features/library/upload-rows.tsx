import { useMemo, type JSX } from 'react'

import { VirtualRows } from '#web/ui/virtual-rows.tsx'

import type { Upload } from './upload-list.ts'
import { UploadRow } from './upload-row.tsx'
import styles from './upload-rows.module.css'
import { dismissUpload } from './upload-store.ts'
import { failedFirst } from './upload-summary.ts'

/** Pixels; drawn rows are measured. */
const ROW_HEIGHT = 73

export function UploadRows({ uploads }: { uploads: readonly Upload[] }): JSX.Element | null {
  const rows = useMemo(() => failedFirst(uploads), [uploads])
  if (rows.length === 0) return null
  return (
    <VirtualRows
      rows={rows}
      keyOf={({ key }) => key}
      estimatedHeight={ROW_HEIGHT}
      hasMore={false}
      label="Uploads"
      className={styles.rows}
    >
      {(upload, item) => <UploadRow key={upload.key} upload={upload} item={item} onDismiss={dismissUpload} />}
    </VirtualRows>
  )
}
