import { useQuery } from '@tanstack/react-query'
import { useState, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { readingReportQuery } from '#web/data/documents/document-queries.ts'
import { Popover } from '#web/ui/popover.tsx'

import { describeReport } from './describe-report.ts'
import styles from './reading-report.module.css'

interface ReadingReportProps {
  document: DocumentRow
  remarks: readonly string[]
}

export function ReadingReport({ document, remarks }: ReadingReportProps): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const report = useQuery({ ...readingReportQuery(document.id), enabled: isOpen })
  return (
    <Popover
      open={isOpen}
      onOpenChange={setOpen}
      label={`How ${document.filename} was read`}
      anchor={
        <button
          type="button"
          className={styles.remarks}
          aria-expanded={isOpen}
          aria-label={`How ${document.filename} was read: ${remarks.join(', ')}`}
          onClick={() => setOpen(!isOpen)}
        >
          {remarks.map((remark) => (
            <span key={remark}>{remark}</span>
          ))}
        </button>
      }
    >
      <div className={styles.report}>
        {report.isPending && <p role="status">Loading the report</p>}
        {report.isError && <p role="alert">The report could not be loaded.</p>}
        {report.data && (
          <dl className={styles.list}>
            {describeReport(report.data, document.mimetype).map(({ term, detail }) => (
              <div key={term}>
                <dt>{term}</dt>
                <dd>{detail}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </Popover>
  )
}
