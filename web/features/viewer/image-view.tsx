import { useQuery } from '@tanstack/react-query'
import { useState, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { documentFileUrl, pageTextQuery } from '#web/data/documents.ts'

import styles from './image-view.module.css'
import { PassageNote } from './passage-note.tsx'
import { ReaderState } from './reader-state.tsx'
import type { Passage } from './reader-target.ts'

interface ImageViewProps {
  document: DocumentRow
  passage: Passage | null
  zoom: number
}

/** A picture, fitted to the pane's width times the zoom, with the passage that was read from it. */
export function ImageView({ document, passage, zoom }: ImageViewProps): JSX.Element {
  const [isBroken, setBroken] = useState(false)
  const pageText = useQuery({ ...pageTextQuery(document.id, passage?.page ?? 1), enabled: passage !== null })
  if (isBroken) {
    return <ReaderState kind="failed" title="This picture could not be shown" downloadOf={document.id} />
  }
  return (
    <>
      <div className={styles.frame} style={{ width: `${zoom * 100}%` }}>
        <img
          className={styles.image}
          data-zoomed={zoom !== 1}
          src={documentFileUrl(document.id)}
          alt={document.filename}
          onError={() => setBroken(true)}
        />
      </div>
      {passage && pageText.data && <PassageNote text={pageText.data.text.slice(passage.start, passage.end)} />}
    </>
  )
}
