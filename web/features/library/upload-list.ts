import type { DocumentRow } from '#contract/document.ts'

/** One file on its way: from the moment it was chosen until its row is dismissed. */
export interface Upload {
  key: string
  /** Which drop zone took it: the id of an upload area, or of the page. */
  zone: string
  name: string
  size: number
  step:
    | { at: 'sending'; share: number }
    /** The server has it; how far it is with reading is in the list of documents, under this id. */
    | { at: 'taken'; document: DocumentRow }
    | { at: 'refused'; message: string }
}

export type UploadEvent =
  | { type: 'chosen'; uploads: Upload[]; over: readonly string[] }
  | { type: 'sent'; key: string; share: number }
  | { type: 'taken'; key: string; document: DocumentRow }
  | { type: 'refused'; key: string; message: string }
  | { type: 'dismissed'; key: string }

/** What becomes of the list of uploads; a new choice clears away the rows of earlier ones that are over, by their keys. */
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
