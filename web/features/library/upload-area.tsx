import { useQuery } from '@tanstack/react-query'
import { FileUp, FolderUp } from 'lucide-react'
import { useEffect, useId, type JSX } from 'react'
import { useDropzone } from 'react-dropzone'
import { MAX_UPLOAD_LABEL } from '#contract/upload-limits.ts'

import type { DocumentRow } from '#contract/document.ts'
import { documentCountsQuery } from '#web/data/documents/document-counts.ts'
import { useSpace } from '#web/data/current-space.ts'

import { announceFiles } from './given-files.ts'
import styles from './upload-area.module.css'
import { UploadAnnouncement } from './upload-announcement.tsx'
import { UploadControls } from './upload-controls.tsx'
import { UploadRows } from './upload-rows.tsx'
import { showUploadArea, useUploads } from './upload-store.ts'
import { describeUploads, isMany, progressOf } from './upload-summary.ts'
import { useLeaving } from './use-leaving.ts'
import { useShownUploads } from './use-shown-uploads.ts'
import { useUploadZone } from './use-upload-zone.ts'

/** Browsers of phones have no folders to choose. */
const CAN_CHOOSE_FOLDERS = 'webkitdirectory' in HTMLInputElement.prototype && matchMedia('(pointer: fine)').matches

export default function UploadArea({ onUploaded }: { onUploaded?: (documents: DocumentRow[]) => void }): JSX.Element {
  const id = useId()
  const space = useSpace()
  const zone = useUploadZone(id, () => onUploaded)
  const uploads = useShownUploads(id)
  const { data: counts } = useQuery(documentCountsQuery(space))
  const isPaused = useUploads((state) => state.isPaused)
  useLeaving(uploads)
  // Without bubbling: the page around would take these files again, and handles pasting itself.
  const options = { ...zone, noClick: true, noKeyboard: true, noDragEventsBubbling: true, noPaste: true }
  const { getRootProps, getInputProps, isDragActive, open } = useDropzone(options)
  const folder = useDropzone({ ...options, noDrag: true })
  useEffect(() => showUploadArea(id), [id])
  useEffect(announceFiles, [])

  const progress = progressOf(uploads, counts)
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
      {CAN_CHOOSE_FOLDERS && (
        <div>
          <input {...folder.getInputProps({ 'aria-label': 'Folder to upload' })} {...{ webkitdirectory: '' }} />
          <button type="button" className={styles.folder} onClick={folder.open}>
            <FolderUp size={15} strokeWidth={1.5} aria-hidden />
            Choose a folder
          </button>
        </div>
      )}
      {isMany(uploads.length) && (
        <div className={styles.summary}>
          <p className={styles.progress}>{describeUploads(uploads, progress)}</p>
          <UploadControls progress={progress} isPaused={isPaused || (counts?.paused ?? 0) > 0} />
        </div>
      )}
      <UploadAnnouncement uploads={uploads} />
      <UploadRows uploads={uploads} />
    </section>
  )
}
