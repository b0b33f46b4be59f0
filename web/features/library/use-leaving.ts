import { useEffect } from 'react'

import type { DocumentRow } from '#contract/document.ts'

import type { Upload } from './upload-list.ts'
import { dismissUpload } from './upload-store.ts'
import { allOver, stageOf } from './upload-summary.ts'

/** So long a file that has been read is still told of. */
const LINGER_MS = 5000

/** Takes the rows of files that have been read away, a little after the last of all files was. */
export function useLeaving(uploads: readonly Upload[], documents: readonly DocumentRow[] | undefined): void {
  const readKeys = allOver(uploads, documents)
    .filter((upload) => stageOf(upload, documents) === 'read')
    .map(({ key }) => key)
  const joined = readKeys.join(' ')
  useEffect(() => {
    if (joined === '') return
    const timer = setTimeout(() => joined.split(' ').forEach(dismissUpload), LINGER_MS)
    return () => clearTimeout(timer)
  }, [joined])
}
