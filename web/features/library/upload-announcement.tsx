import { useDeferredValue, type JSX } from 'react'

import hidden from '#web/ui/visually-hidden.module.css'

import type { Upload } from './upload-list.ts'
import { announceUploads } from './upload-summary.ts'

/** Tells screen readers of uploads once for all rows, whose percentages would talk without end. */
export function UploadAnnouncement({ uploads }: { uploads: readonly Upload[] }): JSX.Element {
  // A region that appears with its text is not announced.
  const text = useDeferredValue(announceUploads(uploads), '')
  return (
    <p className={hidden.hidden} role="status">
      {text}
    </p>
  )
}
