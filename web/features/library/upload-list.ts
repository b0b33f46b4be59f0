import type { DocumentRow } from '#contract/document.ts'
import type { DocumentChange } from '#web/data/documents/document-changes.ts'

export interface Upload {
  key: string
  /** The id of an upload area, or of the page. */
  zone: string
  name: string
  /** As in `documentRow`. */
  folder: string
  size: number
  step:
    | { at: 'sending'; share: number }
    /** The server has stored it; null: the document was deleted since. `isNew` is false if the bytes were known already. */
    | { at: 'taken'; document: DocumentRow | null; isNew: boolean }
    | { at: 'refused'; message: string }
}

export type UploadEvent =
  | { type: 'chosen'; uploads: readonly Upload[]; over: readonly string[] }
  | { type: 'sent'; key: string; share: number }
  | { type: 'taken'; key: string; document: DocumentRow; isNew: boolean }
  | { type: 'refused'; key: string; message: string }
  | { type: 'dismissed'; keys: readonly string[] }

/** The uploads of a page. An event or a change of a document costs the same however many there are. */
export interface UploadList {
  /** In the order in which they were chosen. An upload that did not change is the same object. */
  all(): readonly Upload[]
  /** A new choice removes the finished rows, given by their keys. */
  apply(event: UploadEvent): void
  /** @returns whether an upload shows this document */
  changeDocument(id: string, change: DocumentChange): boolean
  replaceDocument(id: string, document: DocumentRow | null): void
  /** The document of an upload as it is now; null without one. */
  documentOf(key: string): DocumentRow | null
  clear(): void
}

export function createUploadList(): UploadList {
  const uploads = new Map<string, Upload>()
  const keysOf = new Map<string, string[]>()
  let sending = 0
  /** A document may change before the answer to its upload arrives, which is older then. */
  const earlyChanges = new Map<string, DocumentChange[]>()

  const isSending = (upload: Upload | undefined): boolean => upload?.step.at === 'sending'

  function countSending(difference: number): void {
    sending += difference
    if (sending === 0) earlyChanges.clear()
  }

  function change(key: string, step: Upload['step']): void {
    const known = uploads.get(key)
    if (known === undefined || (step.at === 'sending' && known.step.at !== 'sending')) return
    uploads.set(key, { ...known, step })
    if (isSending(known) && step.at !== 'sending') countSending(-1)
  }

  function remove(key: string): void {
    const known = uploads.get(key)
    if (known === undefined) return
    uploads.delete(key)
    if (known.step.at === 'taken' && known.step.document !== null) {
      const { id } = known.step.document
      const others = (keysOf.get(id) ?? []).filter((other) => other !== key)
      if (others.length === 0) keysOf.delete(id)
      else keysOf.set(id, others)
    }
    if (isSending(known)) countSending(-1)
  }

  function take(key: string, document: DocumentRow, isNew: boolean): void {
    if (!uploads.has(key)) return
    const others = keysOf.get(document.id) ?? []
    const known = others.map(documentOf).find((row) => row !== null)
    const changes = earlyChanges.get(document.id) ?? []
    const now = known ?? changes.reduce<DocumentRow | null>((row, change) => row && change(row), document)
    earlyChanges.delete(document.id)
    keysOf.set(document.id, [...others, key])
    change(key, { at: 'taken', document: now, isNew })
  }

  /** @returns whether an upload shows this document */
  function changeShown(id: string, changeRow: (row: DocumentRow) => DocumentRow | null): boolean {
    const keys = keysOf.get(id) ?? []
    for (const key of keys) {
      const step = uploads.get(key)?.step
      if (step?.at === 'taken' && step.document !== null) change(key, { ...step, document: changeRow(step.document) })
    }
    return keys.length > 0
  }

  function documentOf(key: string): DocumentRow | null {
    const step = uploads.get(key)?.step
    return step?.at === 'taken' ? step.document : null
  }

  return {
    all: () => [...uploads.values()],
    apply(event) {
      switch (event.type) {
        case 'chosen':
          event.over.forEach(remove)
          for (const upload of event.uploads) uploads.set(upload.key, upload)
          return countSending(event.uploads.filter(isSending).length)
        case 'sent':
          return change(event.key, { at: 'sending', share: event.share })
        case 'taken':
          return take(event.key, event.document, event.isNew)
        case 'refused':
          return change(event.key, { at: 'refused', message: event.message })
        case 'dismissed':
          return event.keys.forEach(remove)
      }
    },
    changeDocument(id, changeRow) {
      const isShown = changeShown(id, changeRow)
      if (!isShown && sending > 0) earlyChanges.set(id, [...(earlyChanges.get(id) ?? []), changeRow])
      return isShown
    },
    replaceDocument: (id, document) => void changeShown(id, () => document),
    documentOf,
    clear() {
      uploads.clear()
      keysOf.clear()
      countSending(-sending)
    },
  }
}
