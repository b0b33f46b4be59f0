import { X } from 'lucide-react'
import { memo, type JSX } from 'react'

import { nameWithFolder } from '#contract/document.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { Progress } from '#web/ui/progress.tsx'
import type { VirtualRow } from '#web/ui/virtual-rows.tsx'

import { describeProgress, type DocumentProgress } from '#web/lib/documents/describe-document.ts'
import { formatSize } from '#contract/format-size.ts'
import type { Upload } from './upload-list.ts'
import styles from './upload-row.module.css'

interface UploadRowProps {
  upload: Upload
  item: VirtualRow
  onDismiss: (key: string) => void
}

export function UploadRow({ upload, item, onDismiss }: UploadRowProps): JSX.Element {
  const { tone } = describeUpload(upload)
  return (
    <li {...item} className={classNames(item.className, styles.row)} data-state={tone}>
      <UploadWords upload={upload} onDismiss={onDismiss} />
    </li>
  )
}

/** Unchanged while other uploads of thousands change. */
const UploadWords = memo(function UploadWords({ upload, onDismiss }: Omit<UploadRowProps, 'item'>): JSX.Element {
  const { tone, text, progress } = describeUpload(upload)
  return (
    <>
      <span className={styles.name} title={nameWithFolder({ folder: upload.folder, filename: upload.name })}>
        {upload.folder !== '' && (
          <span className={styles.folder} dir="auto">
            {upload.folder}/
          </span>
        )}
        <span className={styles.file} dir="auto">
          {upload.name}
        </span>
      </span>
      <span className={styles.size}>{formatSize(upload.size)}</span>
      <span className={classNames(styles.status, styles[tone])}>{text}</span>
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
    </>
  )
})

function describeUpload({ step }: Upload): DocumentProgress {
  if (step.at === 'refused') return { tone: 'failed', text: step.message, progress: null }
  if (step.at === 'taken') {
    if (!step.document) return { tone: 'failed', text: 'Deleted', progress: null }
    const progress = describeProgress(step.document)
    return !step.isNew && progress.tone === 'ready' ? { ...progress, text: 'Already in your library' } : progress
  }
  if (step.share === 0) return { tone: 'working', text: 'Waiting to be sent', progress: null }
  // All bytes are sent; the server is checking the file before it answers.
  if (step.share >= 1) return { tone: 'working', text: 'Checking', progress: null }
  return { tone: 'working', text: `Uploading: ${Math.floor(step.share * 100)}%`, progress: step.share }
}
