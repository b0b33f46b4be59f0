import { useLayoutEffect, useMemo, useRef, type JSX } from 'react'
import { nameWithFolder, type DocumentRow, type PageText } from '#contract/document.ts'
import { columnWidths } from '#web/features/viewer/column-widths.ts'
import { numbersIn } from '#web/features/viewer/number-cells.ts'
import { columnName, sheetLines, textBoxBlocks, type SheetLine } from '#web/features/viewer/sheet-lines.ts'
import { cellsOf, textBlocks } from '#web/features/viewer/text-blocks.ts'
import { TextBlockView } from '#web/features/viewer/text-block-view.tsx'
import textStyles from '#web/features/viewer/text-section.module.css'
import pageStyles from '#web/features/viewer/pdf-page.module.css'
import { viewerKind } from '#web/features/viewer/viewer-kind.ts'
import { classNames } from '#web/ui/class-names.ts'
import type { DrawnPage } from './drawn-page.ts'
import { formatMoment } from '#web/lib/format/format-moment.ts'
import styles from './print.module.css'

/** The parts of a document that are loaded. */
export interface PrintableDocument {
  readonly document: DocumentRow
  readonly pages: readonly DrawnPage[]
  readonly texts: readonly PageText[]
  readonly isWhole: boolean
}

export function PrintedDocument({ document, pages, texts, isWhole }: PrintableDocument): JSX.Element {
  const { body, hardWrapped } = viewerKind(document.mimetype)
  const note = !isWhole && (
    <p className={styles.missing}>Some of this document is missing here. Print in the page includes it.</p>
  )
  if (body === 'pdf')
    return (
      <>
        {note}
        {pages.map((page, index) => (
          <PrintedPage key={index} page={page} />
        ))}
      </>
    )
  return (
    <>
      <header className={styles.head}>
        <h1 dir="auto">{document.filename}</h1>
        <p className={styles.meta}>
          {nameWithFolder(document) !== document.filename && `${nameWithFolder(document)} · `}
          {`added ${formatMoment(document.uploaded_at)} · printed ${formatMoment(new Date().toISOString())}`}
        </p>
      </header>
      {note}
      {pages.map((page, index) => (
        <PrintedPicture key={index} page={page} />
      ))}
      {texts.map((text) => (
        <PrintedPart key={text.page} part={text} hardWrapped={hardWrapped} />
      ))}
    </>
  )
}

/** CSS pixels of the page's area that fit A4 and Letter within the margins. */
const AREA = { width: 660, height: 900 }

function PrintedPage({ page: { picture, letters, width, height } }: { page: DrawnPage }): JSX.Element {
  const holder = useRef<HTMLDivElement>(null)
  const scale = Math.min(AREA.width / width, AREA.height / height)
  useLayoutEffect(() => {
    const element = holder.current
    if (element === null) return
    letters.classList.add(...classNames(pageStyles.text, styles.letters).split(' '))
    element.style.width = `${width * scale}px`
    element.style.height = `${height * scale}px`
    element.style.setProperty('--total-scale-factor', String(scale))
    element.replaceChildren(picture, letters)
  }, [picture, letters, width, height, scale])
  return <div ref={holder} className={styles.page} />
}

function PrintedPicture({ page: { picture, width } }: { page: DrawnPage }): JSX.Element {
  const holder = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = holder.current
    if (element === null) return
    element.style.maxWidth = `${width}px`
    element.replaceChildren(picture)
  }, [picture, width])
  return <div ref={holder} className={styles.picture} />
}

function PrintedPart({ part, hardWrapped }: { part: PageText; hardWrapped: boolean }): JSX.Element {
  const { text } = part
  const lines = useMemo(() => sheetLines(part), [part])
  if (lines === null)
    return (
      <section className={classNames(styles.part, textStyles.text)} dir="auto">
        {textBlocks(text, { hardWrapped }).map((block, index) => (
          <TextBlockView key={index} block={block} text={text} />
        ))}
      </section>
    )
  return (
    <section className={styles.part}>
      <h2>{text.slice(0, (text + '\n').indexOf('\n'))}</h2>
      {columnBands(text, lines, part.columns ?? []).map((band) => (
        <PrintedSheet key={band.from} text={text} lines={lines} band={band} />
      ))}
      {textBoxBlocks(text, lines).map((block) => (
        <TextBlockView key={block.start} block={block} text={text} />
      ))}
    </section>
  )
}

/** Neighbouring columns that fit the width of the paper. */
interface ColumnBand {
  /** Index of the first one. */
  readonly from: number
  readonly columns: readonly number[]
}

/** Characters of a line of the paper, and of the widest column in it. */
const LINE_CHARACTERS = 105
const CELL_CHARACTERS = 40

function columnBands(text: string, lines: readonly SheetLine[], columns: readonly number[]): ColumnBand[] {
  const widths = columnWidths(text, lines, columns.length)
  const bands: { from: number; columns: number[]; width: number }[] = []
  for (const [index, column] of columns.entries()) {
    const width = Math.min(widths[index] ?? 0, CELL_CHARACTERS) + 2
    const last = bands.at(-1)
    if (last !== undefined && last.width + width <= LINE_CHARACTERS) {
      last.columns.push(column)
      last.width += width
    } else bands.push({ from: index, columns: [column], width })
  }
  return bands
}

/** Columns that do not fit follow below, as workbooks print them. */
function PrintedSheet({
  text,
  lines,
  band,
}: {
  text: string
  lines: readonly SheetLine[]
  band: ColumnBand
}): JSX.Element {
  return (
    <table className={styles.sheet} dir="ltr">
      <thead>
        <tr>
          <th />
          {band.columns.map((column) => (
            <th key={column}>{columnName(column)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => {
          const cells = cellsOf(text, line).map(({ start, end }) => text.slice(start, end))
          const isNumber = numbersIn([cells], 0)
          return (
            <tr key={line.row}>
              <th>{line.row}</th>
              {band.columns.map((column, index) => (
                <td
                  key={column}
                  dir="auto"
                  className={isNumber[band.from + index] === true ? styles.number : undefined}
                >
                  {cells[band.from + index]}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
