import { useEffect } from 'react'

import type { DocumentRow } from '#contract/document.ts'

import type { Upload } from './upload-list.ts'
import { dismissUpload } from './upload-store.ts'
import { allOver, stageOf } from './upload-summary.ts'

/** How long a finished upload stays visible after the last one. */
const LINGER_MS = 5000

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
