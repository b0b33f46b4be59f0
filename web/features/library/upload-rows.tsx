import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'

import { documentsQuery } from '#web/data/documents/document-queries.ts'

import type { Upload } from './upload-list.ts'
import { UploadRow } from './upload-row.tsx'
import styles from './upload-rows.module.css'
import { dismissUpload } from './upload-store.ts'
import { failedFirst } from './upload-summary.ts'

export function UploadRows({ uploads }: { uploads: readonly Upload[] }): JSX.Element | null {
  const documents = useQuery(documentsQuery())
  if (uploads.length === 0) return null
  return (
    <ul className={styles.rows} aria-label="Uploads">
      {failedFirst(uploads, documents.data).map((upload) => {
        const taken = upload.step.at === 'taken' ? upload.step.document : undefined
        const known = documents.data?.find(({ id }) => id === taken?.id)
        return (
          <UploadRow
            key={upload.key}
            upload={upload}
            document={documents.data ? known : taken}
            onDismiss={dismissUpload}
          />
        )
      })}
    </ul>
  )
}
