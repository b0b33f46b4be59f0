import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { DropEvent, DropzoneOptions } from 'react-dropzone'

import type { DocumentRow } from '#contract/document.ts'
import { MAX_UPLOAD_BYTES } from '#contract/upload-limits.ts'
import { useSpace } from '#web/data/current-space.ts'

import { acceptedTypes } from './upload-rules.ts'
import { startUploads } from './upload-store.ts'

type OnUploaded = (documents: DocumentRow[]) => void

/** @param whenUploaded is called when files arrive and returns what to do with the stored documents */
export function useUploadZone(
  zone: string,
  whenUploaded?: (event: DropEvent) => OnUploaded | undefined,
): DropzoneOptions {
  const queryClient = useQueryClient()
  const space = useSpace()
  const onDrop = useCallback<NonNullable<DropzoneOptions['onDrop']>>(
    (accepted, rejected, event) => {
      const onUploaded = whenUploaded?.(event)
      startUploads(queryClient, { zone, space, accepted, rejected }).then(
        (documents) => {
          if (documents.length > 0) onUploaded?.(documents)
        },
        (error: unknown) => console.error('The upload ended with an error', error),
      )
    },
    [queryClient, zone, space, whenUploaded],
  )
  // The whole page takes files. The library would also keep dragged text from fields.
  return { accept: ACCEPT, maxSize: MAX_UPLOAD_BYTES, onDrop, preventDropOnDocument: false }
}

const ACCEPT = acceptedTypes()
