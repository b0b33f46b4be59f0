import type { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'

import type { DocumentRow } from '#contract/document.ts'
import { cacheDocuments } from '#web/data/documents/document-cache.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { uploadDocuments } from '#web/data/documents/upload-documents.ts'

import { nextUploads, type Upload, type UploadEvent } from './upload-list.ts'
import { rejectionMessage, withinSizeLimit } from './upload-rules.ts'
import { allOver } from './upload-summary.ts'

/** The uploads of this page. The store outlives the upload area, which is hidden once files are accepted. */
interface UploadState {
  uploads: Upload[]
  /** Mounted upload areas; each shows the rows of its own uploads. */
  areas: readonly string[]
  /** The person's choice; null while the tray decides from the state of the uploads. */
  isTrayOpen: boolean | null
}

export const useUploads = create<UploadState>(() => ({ uploads: [], areas: [], isTrayOpen: null }))

const running = new Set<AbortController>()

function tell(event: UploadEvent): void {
  useUploads.setState(({ uploads }) => ({ uploads: nextUploads(uploads, event) }))
}

export function dismissUpload(key: string): void {
  tell({ type: 'dismissed', key })
}

export function setTrayOpen(isTrayOpen: boolean): void {
  useUploads.setState({ isTrayOpen })
}

/** Aborts running uploads and clears all rows, so that the next account on this page sees none of them. */
export function forgetUploads(): void {
  for (const controller of running) controller.abort()
  useUploads.setState({ uploads: [] })
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
  const documents = queryClient.getQueryData<DocumentRow[]>(documentsKey)
  const over = allOver(useUploads.getState().uploads, documents).map(({ key }) => key)
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
    return outcomes.flatMap((outcome) => ('document' in outcome ? outcome.document : []))
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
