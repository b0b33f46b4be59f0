import { X } from 'lucide-react'
import type { JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { Progress } from '#web/ui/progress.tsx'

import { describeProgress, type DocumentProgress } from '#web/lib/documents/describe-document.ts'
import { formatSize } from '#web/lib/format/format-size.ts'
import type { Upload } from './upload-list.ts'
import styles from './upload-row.module.css'

interface UploadRowProps {
  upload: Upload
  /** Undefined until the server has stored it, and after deletion. */
  document: DocumentRow | undefined
  onDismiss: (key: string) => void
}

export function UploadRow({ upload, document, onDismiss }: UploadRowProps): JSX.Element {
  const { tone, text, progress } = describeUpload(upload, document)
  return (
    <li className={styles.row} data-state={tone}>
      <span className={styles.name} title={upload.name}>
        {upload.name}
      </span>
      <span className={styles.size}>{formatSize(upload.size)}</span>
      <span className={classNames(styles.status, styles[tone])} aria-live="polite">
        {text}
      </span>
      {tone === 'working' ? (
        <div className={styles.progress}>
          <Progress value={progress === null ? null : progress * 100} label={`${upload.name}: ${text}`} />
        </div>
      ) : (
        <Button
          variant="ghost"
          size="icon"
          className={styles.dismiss}
          aria-label={`Dismiss ${upload.name}`}
          onClick={() => onDismiss(upload.key)}
        >
          <X size={14} />
        </Button>
      )}
    </li>
  )
}

function describeUpload({ step }: Upload, document: DocumentRow | undefined): DocumentProgress {
  if (step.at === 'refused') return { tone: 'failed', text: step.message, progress: null }
  if (step.at === 'taken') {
    return document ? describeProgress(document) : { tone: 'failed', text: 'Deleted', progress: null }
  }
  // All bytes are sent; the server is checking the file before it answers.
  if (step.share >= 1) return { tone: 'working', text: 'Checking', progress: null }
  return { tone: 'working', text: `Uploading: ${Math.floor(step.share * 100)}%`, progress: step.share }
}
