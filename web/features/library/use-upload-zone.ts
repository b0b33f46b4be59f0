import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { DropzoneOptions } from 'react-dropzone'

import type { DocumentRow } from '#contract/document.ts'
import { MAX_UPLOAD_BYTES } from '#contract/limits.ts'

import { acceptedTypes } from './upload-rules.ts'
import { startUploads } from './upload-store.ts'

/** What every drop zone of the page has in common: types, size limit and where the files go. */
export function useUploadZone(zone: string, onUploaded?: (documents: DocumentRow[]) => void): DropzoneOptions {
  const queryClient = useQueryClient()
  const onDrop = useCallback<NonNullable<DropzoneOptions['onDrop']>>(
    (accepted, rejected) => {
      startUploads(queryClient, { zone, accepted, rejected }).then(
        (documents) => {
          if (documents.length > 0) onUploaded?.(documents)
        },
        (error: unknown) => console.error('The upload ended with an error', error),
      )
    },
    [queryClient, zone, onUploaded],
  )
  return { accept: ACCEPT, maxSize: MAX_UPLOAD_BYTES, onDrop }
}

const ACCEPT = acceptedTypes()
