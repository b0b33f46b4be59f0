import { useEffect } from 'react'

import type { Upload } from './upload-list.ts'
import { dismissUploads } from './upload-store.ts'
import { allOver, isMany, stageOf } from './upload-summary.ts'

/** How long a finished upload stays visible after the last one. */
const LINGER_MS = 5000

/** The summary of many stays until it is dismissed. @param uploads the same list while none of them changes */
export function useLeaving(uploads: readonly Upload[]): void {
  useEffect(() => {
    const read = allOver(uploads).filter((upload) => stageOf(upload) === 'read')
    if (read.length === 0 || isMany(uploads.length)) return
    const timer = setTimeout(() => dismissUploads(read.map(({ key }) => key)), LINGER_MS)
    return () => clearTimeout(timer)
  }, [uploads])
}
