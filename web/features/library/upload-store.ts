import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'

import type { DocumentRow } from '#contract/document.ts'
import { cacheDocuments } from '#web/data/documents/document-cache.ts'
import { onDocumentChange } from '#web/data/documents/document-changes.ts'
import { documentsKey } from '#web/data/documents/document-queries.ts'
import { readDocuments } from '#web/data/documents/read-documents.ts'
import { cancelReading, pauseReading } from '#web/data/documents/reading-queue.ts'
import { sendFiles, type FileToSend } from '#web/data/documents/send-files.ts'
import type { Space } from '#web/data/current-space.ts'
import { deleteUnsentFiles, rememberFiles, sendLeftFiles } from '#web/data/documents/unsent-files.ts'
import { isUploadPaused, storeUploadPause } from '#web/data/documents/upload-pause.ts'

import { folderOf, isHidden } from './folder-files.ts'
import { setTrayOpen } from './tray-open.ts'
import { createUploadList, type Upload, type UploadEvent } from './upload-list.ts'
import { rejectionMessage, withinSizeLimit } from './upload-rules.ts'
import { allOver, stageOf } from './upload-summary.ts'

/** The uploads of this page. The store outlives the upload area, which is hidden once files are accepted. */
interface UploadState {
  uploads: readonly Upload[]
  /** Mounted upload areas; each shows the rows of its own uploads. */
  areas: readonly string[]
  /** Nothing is sent until the person lets it go on. */
  isPaused: boolean
  /** Sending waits until the server can be reached again. */
  isDisconnected: boolean
}

export const useUploads = create<UploadState>(() => ({
  uploads: [],
  areas: [],
  isPaused: false,
  isDisconnected: false,
}))

/** The zone of files that are dropped on the page, and of those that an earlier page left. */
export const PAGE_ZONE = 'page'

const running = new Set<AbortController>()
/** Spaces that the files of the page went to, whichever it shows now. */
const usedSpaces = new Set<Space>()
const spacesOr = (shown: Space): readonly Space[] => (usedSpaces.size === 0 ? [shown] : [...usedSpaces])
let userId: string | null = null

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

/** Goes on with the uploads that an earlier page of this person left. @returns the function that ends all uploads */
export function openUploads(queryClient: QueryClient, ofUser: string): () => void {
  userId = ofUser
  useUploads.setState({ isPaused: isUploadPaused(ofUser) })
  sendLeftFiles(ofUser, async (files, space, forget) => {
    tell({ type: 'chosen', uploads: files.map((file) => toUpload(PAGE_ZONE, file)), over: [] })
    await send(queryClient, { files, space, forget })
  }).catch((error: unknown) => console.error('The uploads of an earlier page could not go on', error))
  return forgetUploads
}

/** Aborts running uploads and clears all rows, so that the next account on this page sees none of them. */
function forgetUploads(): void {
  userId = null
  usedSpaces.clear()
  for (const controller of running) controller.abort()
  list.clear()
  publish()
  useUploads.setState({ isPaused: false, isDisconnected: false })
}

export function showUploadArea(zone: string): () => void {
  useUploads.setState(({ areas }) => ({ areas: [...areas, zone] }))
  return () => useUploads.setState(({ areas }) => ({ areas: areas.filter((other) => other !== zone) }))
}

/** Neither sends nor reads on until it is called with false. @throws if the server refuses it */
export async function setPaused(queryClient: QueryClient, space: Space, isPaused: boolean): Promise<void> {
  const before = useUploads.getState().isPaused
  const controller = new AbortController()
  const { signal } = controller
  running.add(controller)
  // Stored before the server answers: the page may be left meanwhile.
  showPaused(isPaused)
  try {
    for (const used of spacesOr(space))
      await pauseReading(queryClient, isPaused, {
        space: used,
        signal,
        onConnection: (isDisconnected) => useUploads.setState({ isDisconnected }),
        isWanted: () => useUploads.getState().isPaused === isPaused,
      })
  } catch (error) {
    if (signal.aborted) return
    showPaused(before)
    throw error
  } finally {
    running.delete(controller)
  }
}

function showPaused(isPaused: boolean): void {
  useUploads.setState({ isPaused })
  if (userId !== null) storeUploadPause(userId, isPaused)
}

/** Ends once the server has removed what was not read when the person cancelled; files that are chosen later wait for it. */
let cancelling = Promise.resolve()

/**
 * Sends no more files, and removes the documents that are not read yet, once the server can be reached.
 * @throws if the server refuses it
 */
export async function cancelUploads(queryClient: QueryClient, space: Space): Promise<void> {
  for (const controller of running) controller.abort()
  if (userId !== null) {
    deleteUnsentFiles(userId)
    storeUploadPause(userId, false)
  }
  const underWay = list.all().filter((upload) => stageOf(upload) === 'under way')
  dismissUploads(underWay.filter(({ step }) => step.at === 'sending').map(({ key }) => key))
  useUploads.setState({ isPaused: false, isDisconnected: false })
  const removing = removeUnread(queryClient, spacesOr(space))
  cancelling = removing.catch(() => undefined)
  await removing
  dismissUploads(underWay.map(({ key }) => key))
}

async function removeUnread(queryClient: QueryClient, spaces: readonly Space[]): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  running.add(controller)
  try {
    for (const space of spaces)
      await cancelReading(queryClient, {
        space,
        signal,
        onConnection: (isDisconnected) => useUploads.setState({ isDisconnected }),
      })
    usedSpaces.clear()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    running.delete(controller)
  }
}

interface Chosen {
  zone: string
  space: Space
  accepted: readonly File[]
  rejected: readonly { file: File; errors: readonly { code: string; message: string }[] }[]
}

/** Resolves after the last file with the stored documents; with none when aborted. */
export async function startUploads(queryClient: QueryClient, chosen: Chosen): Promise<DocumentRow[]> {
  const { zone, space, accepted, rejected } = chosen
  const files = accepted
    .filter((file) => withinSizeLimit(file) && !isHidden(file))
    .map((file): FileToSend => ({ key: crypto.randomUUID(), file, folder: folderOf(file) }))
  const tooLarge = accepted.filter((file) => !withinSizeLimit(file))
  const refusals = [
    ...rejected.filter(({ file }) => !isHidden(file)).map(({ file, errors }) => refusedUpload(zone, file, errors)),
    ...tooLarge.map((file) => refusedUpload(zone, file, [{ code: 'file-too-large', message: '' }])),
  ]
  const over = allOver(list.all()).map(({ key }) => key)
  tell({ type: 'chosen', uploads: [...files.map((file) => toUpload(zone, file)), ...refusals], over })
  setTrayOpen(null)
  if (files.length === 0) return []
  const remembered = userId === null ? undefined : rememberFiles(userId, files, space)
  try {
    return await send(queryClient, { files, space, forget: (key) => remembered?.forget(key) })
  } finally {
    remembered?.release()
  }
}

interface Sending {
  readonly files: readonly FileToSend[]
  readonly space: Space
  readonly forget: (key: string) => void
}

async function send(queryClient: QueryClient, { files, space, forget }: Sending): Promise<DocumentRow[]> {
  const controller = new AbortController()
  running.add(controller)
  const documents = new Map<string, DocumentRow>()
  try {
    await cancelling
    usedSpaces.add(space)
    await sendFiles(files, {
      space,
      signal: controller.signal,
      untilResumed,
      onProgress: (key, share) => tell({ type: 'sent', key, share }),
      onConnection: (isDisconnected) => useUploads.setState({ isDisconnected }),
      onOutcome: (key, outcome) => {
        forget(key)
        if ('refusal' in outcome) return tell({ type: 'refused', key, message: outcome.refusal })
        const { document, isNew } = outcome
        documents.set(key, document)
        cacheDocuments(queryClient, [document])
        tell({ type: 'taken', key, document, isNew })
      },
    })
    return files.flatMap(({ key }) => list.documentOf(key) ?? documents.get(key) ?? [])
  } catch (error) {
    if (controller.signal.aborted) return []
    throw error
  } finally {
    running.delete(controller)
  }
}

async function untilResumed(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (!useUploads.getState().isPaused) return
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  const stop = useUploads.subscribe(({ isPaused }) => {
    if (!isPaused) resolve(undefined)
  })
  const giveUp = () => reject(signal.reason as Error)
  signal.addEventListener('abort', giveUp)
  try {
    await promise
  } finally {
    stop()
    signal.removeEventListener('abort', giveUp)
  }
}

const toUpload = (zone: string, { key, file, folder }: FileToSend): Upload => ({
  key,
  zone,
  name: file.name,
  folder,
  size: file.size,
  step: { at: 'sending', share: 0 },
})

function refusedUpload(zone: string, file: File, errors: readonly { code: string; message: string }[]): Upload {
  const message = errors.map(rejectionMessage).join('. ')
  const upload = toUpload(zone, { key: crypto.randomUUID(), file, folder: folderOf(file) })
  return { ...upload, step: { at: 'refused', message } }
}
