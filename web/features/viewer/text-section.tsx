import { useEffect, useMemo, useRef, type JSX } from 'react'

import hidden from '#web/ui/visually-hidden.module.css'

import { markPassage, rangesInStretches } from './passage-mark.ts'
import { ViewerState } from './viewer-state.tsx'
import type { Passage } from './viewer-target.ts'
import { SheetGrid } from './sheet-grid.tsx'
import { textBoxBlocks } from './sheet-lines.ts'
import { TextBlockView } from './text-block-view.tsx'
import { type TextBlock, textBlocks } from './text-blocks.ts'
import styles from './text-section.module.css'
import { useSectionText } from './use-section-text.ts'

interface TextSectionProps {
  documentId: string
  page: number
  /** Only for the section that contains it. */
  passage: Passage | null
  isSheet: boolean
  hardWrapped: boolean
  label: string
  scroller: HTMLElement
  onMarked: (first: Range) => void
}

export function TextSection(props: TextSectionProps): JSX.Element {
  const { documentId, page, passage, isSheet, hardWrapped, label, scroller, onMarked } = props
  const { section, text, lines, columns, widths, parts } = useSectionText(documentId, page, { isSheet, passage })
  const container = useRef<HTMLDivElement>(null)
  const blocks = useMemo(() => {
    if (text === undefined) return []
    return lines ? [sheetName(text)] : textBlocks(text, { hardWrapped })
  }, [text, lines, hardWrapped])

  useEffect(() => {
    if (!passage || blocks.length === 0 || !container.current) return
    const ranges = rangesInStretches(container.current, passage.start, passage.end)
    const unmark = markPassage(ranges)
    if (ranges[0]) onMarked(ranges[0])
    return unmark
  }, [passage, blocks, onMarked])

  return (
    <section
      className={styles.section}
      data-section={page}
      data-pending={section.isPending}
      data-sheet={lines !== null}
      aria-label={label}
    >
      {section.isPending && <ViewerState kind="loading" title="Loading the text" />}
      {section.isError && (
        <ViewerState kind="failed" title="This text could not be loaded" onRetry={() => void section.refetch()} />
      )}
      {section.data === null && <ViewerState kind="failed" title="There is no text here" />}
      {parts.isLoading && (
        <p className={hidden.hidden} role="status">
          Loading rows
        </p>
      )}
      {parts.hasFailed && (
        <div className={styles.failedRows}>
          <ViewerState kind="failed" title="Some rows could not be loaded" onRetry={parts.retry} />
        </div>
      )}
      {text !== undefined && blocks.length === 0 && <p className={styles.empty}>This part is empty.</p>}
      <div ref={container} className={styles.text} data-passage={passage !== null && blocks.length > 0} dir="auto">
        {text !== undefined && blocks.map((block, index) => <TextBlockView key={index} block={block} text={text} />)}
        {text !== undefined && lines && lines.length > 0 && (
          <SheetGrid
            text={text}
            lines={lines}
            columns={columns}
            widths={widths}
            passage={passage}
            scroller={scroller}
            onMissing={parts.load}
          />
        )}
        {text !== undefined &&
          lines &&
          textBoxBlocks(text, lines).map((block) => <TextBlockView key={block.start} block={block} text={text} />)}
      </div>
    </section>
  )
}

/** A sheet's text begins with its name on a line of its own. */
const sheetName = (text: string): TextBlock => ({ kind: 'heading', start: 0, end: (text + '\n').indexOf('\n') })
