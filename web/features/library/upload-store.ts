import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'

import type { DocumentRow } from '#contract/document.ts'
import { cacheDocuments } from '#web/data/documents/document-cache.ts'
import { onDocumentChange } from '#web/data/documents/document-changes.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { readDocuments } from '#web/data/documents/read-documents.ts'
import { uploadDocuments } from '#web/data/documents/upload-documents.ts'

import { createUploadList, type Upload, type UploadEvent } from './upload-list.ts'
import { rejectionMessage, withinSizeLimit } from './upload-rules.ts'
import { allOver, stageOf } from './upload-summary.ts'

/** The uploads of this page. The store outlives the upload area, which is hidden once files are accepted. */
interface UploadState {
  uploads: readonly Upload[]
  /** Mounted upload areas; each shows the rows of its own uploads. */
  areas: readonly string[]
  /** The person's choice; null while the tray decides from the state of the uploads. */
  isTrayOpen: boolean | null
}

export const useUploads = create<UploadState>(() => ({ uploads: [], areas: [], isTrayOpen: null }))

const running = new Set<AbortController>()

const list = createUploadList()
const PUBLISH_INTERVAL_MS = 100
let publishTimer: ReturnType<typeof setTimeout> | undefined

function publish(): void {
  clearTimeout(publishTimer)
  publishTimer = undefined
  useUploads.setState({ uploads: list.all() })
}

/** Thousands of uploads change many times a second; the page shows them a few times a second. */
function publishSoon(): void {
  publishTimer ??= setTimeout(publish, PUBLISH_INTERVAL_MS)
}

onDocumentChange((ids, change) => {
  if (ids.filter((id) => list.changeDocument(id, change)).length > 0) publishSoon()
})

function tell(event: UploadEvent): void {
  list.apply(event)
  if (event.type === 'chosen' || event.type === 'dismissed') publish()
  else publishSoon()
}

export const dismissUploads = (keys: readonly string[]): void => tell({ type: 'dismissed', keys })
export const dismissUpload = (key: string): void => dismissUploads([key])

/** Refetched with everything about documents, as after a lost connection, whose changes no later event repeats. */
export const missedChangesQuery = queryOptions({
  queryKey: [...documentsKey, 'uploaded'],
  queryFn: async () => {
    const unread = list
      .all()
      .flatMap((upload) =>
        upload.step.at === 'taken' && stageOf(upload) === 'under way' ? (upload.step.document?.id ?? []) : [],
      )
    const changedMeanwhile = new Set<string>()
    const stop = onDocumentChange((ids) => ids.forEach((id) => changedMeanwhile.add(id)))
    try {
      const rows = await readDocuments(unread)
      for (const id of unread) if (!changedMeanwhile.has(id)) list.replaceDocument(id, rows.get(id) ?? null)
      publish()
      return null
    } finally {
      stop()
    }
  },
  initialData: null,
})

export function setTrayOpen(isTrayOpen: boolean): void {
  useUploads.setState({ isTrayOpen })
}

/** Aborts running uploads and clears all rows, so that the next account on this page sees none of them. */
export function forgetUploads(): void {
  for (const controller of running) controller.abort()
  list.clear()
  publish()
}

export function showUploadArea(zone: string): () => void {
  useUploads.setState(({ areas }) => ({ areas: [...areas, zone] }))
  return () => useUploads.setState(({ areas }) => ({ areas: areas.filter((other) => other !== zone) }))
}

interface Chosen {
  zone: string
  accepted: readonly File[]
  rejected: readonly { file: File; errors: readonly { code: string; message: string }[] }[]
}

/** Resolves after the last file with the stored documents; with none when aborted. */
export async function startUploads(queryClient: QueryClient, chosen: Chosen): Promise<DocumentRow[]> {
  const { zone, accepted, rejected } = chosen
  const files = accepted.filter(withinSizeLimit)
  const tooLarge = accepted.filter((file) => !withinSizeLimit(file))
  const keys = new Map(files.map((file) => [file, crypto.randomUUID()]))
  const refusals = [
    ...rejected.map(({ file, errors }) => refusedUpload(zone, file, errors)),
    ...tooLarge.map((file) => refusedUpload(zone, file, [{ code: 'file-too-large', message: '' }])),
  ]
  const uploads = files.map<Upload>((file) => ({
    key: keys.get(file) ?? '',
    zone,
    name: file.name,
    size: file.size,
    step: { at: 'sending', share: 0 },
  }))
  const over = allOver(list.all()).map(({ key }) => key)
  tell({ type: 'chosen', uploads: [...uploads, ...refusals], over })
  useUploads.setState({ isTrayOpen: null })
  if (files.length === 0) return []

  const controller = new AbortController()
  running.add(controller)
  try {
    const outcomes = await uploadDocuments(files, {
      signal: controller.signal,
      onProgress: (file, share) => tell({ type: 'sent', key: keys.get(file) ?? '', share }),
      onOutcome: (outcome) => {
        const key = keys.get(outcome.file) ?? ''
        if ('refusal' in outcome) return tell({ type: 'refused', key, message: outcome.refusal })
        cacheDocuments(queryClient, [outcome.document])
        tell({ type: 'taken', key, document: outcome.document })
      },
    })
    return outcomes.flatMap((outcome) =>
      'document' in outcome ? (list.documentOf(keys.get(outcome.file) ?? '') ?? outcome.document) : [],
    )
  } catch (error) {
    if (controller.signal.aborted) return []
    throw error
  } finally {
    running.delete(controller)
  }
}

function refusedUpload(zone: string, file: File, errors: readonly { code: string; message: string }[]): Upload {
  const message = errors.map(rejectionMessage).join('. ')
  return { key: crypto.randomUUID(), zone, name: file.name, size: file.size, step: { at: 'refused', message } }
}
