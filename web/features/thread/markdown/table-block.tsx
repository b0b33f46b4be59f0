import type { Tokens } from 'marked'
import { useRef, type JSX } from 'react'
import { useCopy } from '#web/features/thread/actions/use-copy.ts'
import { directionOf } from '#web/lib/markdown/text-direction.ts'
import { NOT_IN_PASSAGE } from '#web/lib/messages/answer-notes.ts'
import { BarMark } from './bar-mark.tsx'
import { inline } from './inline.tsx'
import styles from './table-block.module.css'

/** Cells as spreadsheets paste them: tabs between cells, line breaks between rows. */
const cellsOf = (table: HTMLTableElement | null): string =>
  [...(table?.rows ?? [])]
    .map((row) => [...row.cells].map((cell) => cell.innerText.replaceAll(` (${NOT_IN_PASSAGE})`, '').trim()).join('\t'))
    .join('\n')

export function TableBlock({ table }: { table: Tokens.Table }): JSX.Element {
  const element = useRef<HTMLTableElement>(null)
  const { copied, copy } = useCopy(() => cellsOf(element.current))
  const cell = (given: Tokens.TableCell, index: number): JSX.Element => {
    const Element = given.header ? 'th' : 'td'
    return (
      <Element key={index} dir="auto" className={given.align === null ? undefined : styles[given.align]}>
        {inline(given.tokens)}
      </Element>
    )
  }
  return (
    <div className={styles.block} dir={directionOf([table.header, ...table.rows].flat().map(({ text }) => text))}>
      <div className={styles.frame} tabIndex={0} role="region" aria-label="Table">
        <table ref={element}>
          <thead>
            <tr>{table.header.map(cell)}</tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <tr key={index}>{row.map(cell)}</tr>
            ))}
          </tbody>
        </table>
      </div>
      <button type="button" className={styles.copy} onClick={copy} aria-label={copied ? 'Copied' : 'Copy table'}>
        <BarMark name={copied ? 'copied' : 'copy'} />
      </button>
    </div>
  )
}
