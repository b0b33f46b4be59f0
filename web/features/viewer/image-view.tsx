import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { documentFileUrl, pageTextQuery } from '#web/data/documents/document-queries.ts'

import { BoxedPassage } from './boxed-passage.tsx'
import styles from './image-view.module.css'
import { isDarkPage } from './is-dark-page.ts'
import { passageRectangles } from './passage-boxes.ts'
import { revealMark, type PassageMark } from './passage-mark.ts'
import { PassageNote } from './passage-note.tsx'
import { ViewerState } from './viewer-state.tsx'
import type { Passage } from './viewer-target.ts'

interface ImageViewProps {
  document: DocumentRow
  passage: Passage | null
  zoom: number
  scroller: HTMLElement
}

export function ImageView({ document, passage, zoom, scroller }: ImageViewProps): JSX.Element {
  const [isBroken, setBroken] = useState(false)
  const pageText = useQuery({ ...pageTextQuery(document.id, passage?.page ?? 1), enabled: passage !== null })
  const [shown, setShown] = useState<{ isDark: boolean } | null>(null)
  const rectangles = useMemo(() => {
    if (!passage || !pageText.data) return null
    return passageRectangles(pageText.data.boxes ?? [], passage.start, passage.end)
  }, [passage, pageText.data])
  const reveal = useCallback(
    ([first]: readonly PassageMark[]) => {
      if (first) revealMark(scroller, first)
    },
    [scroller],
  )
  if (isBroken) {
    return <ViewerState kind="failed" title="This picture could not be shown" downloadOf={document.id} />
  }
  return (
    <>
      <div className={styles.frame} style={{ width: `${zoom * 100}%` }}>
        <div className={styles.sheet} data-zoomed={zoom !== 1}>
          <img
            className={styles.image}
            src={documentFileUrl(document.id)}
            alt={document.filename}
            onLoad={({ currentTarget }) => setShown({ isDark: isDarkPage(currentTarget) })}
            onError={() => setBroken(true)}
          />
          {shown && rectangles && rectangles.length > 0 && (
            <BoxedPassage rectangles={rectangles} isDark={shown.isDark} onMarked={reveal} />
          )}
        </div>
      </div>
      {passage && pageText.data && rectangles?.length === 0 && (
        <PassageNote text={pageText.data.text.slice(passage.start, passage.end)} />
      )}
    </>
  )
}
