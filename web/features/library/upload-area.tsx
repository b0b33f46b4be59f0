import { FileUp } from 'lucide-react'
import { useEffect, useId, type JSX } from 'react'
import { useDropzone } from 'react-dropzone'
import { MAX_UPLOAD_LABEL } from '#contract/upload-limits.ts'

import type { DocumentRow } from '#contract/document.ts'

import styles from './upload-area.module.css'
import { UploadRows } from './upload-rows.tsx'
import { showUploadArea } from './upload-store.ts'
import { useLeaving } from './use-leaving.ts'
import { useShownUploads } from './use-shown-uploads.ts'
import { useUploadZone } from './use-upload-zone.ts'

export function UploadArea({ onUploaded }: { onUploaded?: (documents: DocumentRow[]) => void }): JSX.Element {
  const id = useId()
  const zone = useUploadZone(id, () => onUploaded)
  const uploads = useShownUploads(id)
  useLeaving(uploads)
  // Without bubbling: the page around would take these files again, and handles pasting itself.
  const { getRootProps, getInputProps, isDragActive, open } = useDropzone({
    ...zone,
    noClick: true,
    noKeyboard: true,
    noDragEventsBubbling: true,
    noPaste: true,
  })
  useEffect(() => showUploadArea(id), [id])

  return (
    <section aria-label="Upload" className={styles.area}>
      <div {...getRootProps()}>
        <input {...getInputProps({ 'aria-label': 'Files to upload' })} />
        <button type="button" className={styles.zone} data-dragging={isDragActive} onClick={open}>
          <FileUp size={20} strokeWidth={1.5} aria-hidden className={styles.icon} />
          <span className={styles.call}>
            {isDragActive ? 'Drop files here to upload' : 'Drag files here or tap to upload'}
          </span>
          <span className={styles.hint}>Max file size: {MAX_UPLOAD_LABEL.replace(' ', '')}</span>
        </button>
      </div>
      <UploadRows uploads={uploads} />
    </section>
  )
}
