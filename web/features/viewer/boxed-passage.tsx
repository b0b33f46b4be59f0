import { useEffect, useRef, type JSX } from 'react'

import styles from './boxed-passage.module.css'
import type { PageRectangle } from './passage-boxes.ts'
import type { PassageMark } from './passage-mark.ts'

interface BoxedPassageProps {
  rectangles: readonly PageRectangle[]
  isDark: boolean
  onMarked: (marks: readonly PassageMark[], around: readonly PassageMark[]) => void
}

/** The cited passage on a picture of the page, marked by rectangles in shares of the box. */
export function BoxedPassage({ rectangles, isDark, onMarked }: BoxedPassageProps): JSX.Element {
  const marks = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (marks.current?.firstElementChild) onMarked([...marks.current.children], [])
  }, [rectangles, onMarked])

  return (
    <div ref={marks} className={styles.marks} data-passage="true" data-dark={isDark} aria-hidden="true">
      {rectangles.map(({ left, top, width, height }, index) => (
        <div
          key={index}
          className={styles.mark}
          style={{ left: `${left / 100}%`, top: `${top / 100}%`, width: `${width / 100}%`, height: `${height / 100}%` }}
        />
      ))}
    </div>
  )
}
