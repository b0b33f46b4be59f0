import type { DocumentRow } from '#contract/document.ts'

export interface Upload {
  key: string
  /** The id of an upload area, or of the page. */
  zone: string
  name: string
  size: number
  step:
    | { at: 'sending'; share: number }
    /** The server has stored it; the document list tells its processing state under this id. */
    | { at: 'taken'; document: DocumentRow }
    | { at: 'refused'; message: string }
}

export type UploadEvent =
  | { type: 'chosen'; uploads: Upload[]; over: readonly string[] }
  | { type: 'sent'; key: string; share: number }
  | { type: 'taken'; key: string; document: DocumentRow }
  | { type: 'refused'; key: string; message: string }
  | { type: 'dismissed'; key: string }

/** The next list of uploads. A new choice removes the finished rows, given by their keys. */
export function nextUploads(uploads: readonly Upload[], event: UploadEvent): Upload[] {
  switch (event.type) {
    case 'chosen':
      return [...uploads.filter(({ key }) => !event.over.includes(key)), ...event.uploads]
    case 'sent':
      return changeStep(uploads, event.key, { at: 'sending', share: event.share })
    case 'taken':
      return changeStep(uploads, event.key, { at: 'taken', document: event.document })
    case 'refused':
      return changeStep(uploads, event.key, { at: 'refused', message: event.message })
    case 'dismissed':
      return uploads.filter(({ key }) => key !== event.key)
  }
}

function changeStep(uploads: readonly Upload[], key: string, step: Upload['step']): Upload[] {
  return uploads.map((upload) => (upload.key === key ? { ...upload, step } : upload))
}
