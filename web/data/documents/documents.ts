import { mutationOptions, queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import {
  documentRow,
  pageText,
  readingReport,
  uploadAnswer,
  type DocumentRow,
  type UploadAnswer,
} from '#contract/document.ts'
import { apiFetch, apiJson, apiSend, restWithApiFallback, HttpError, rest } from '#web/data/client.ts'
import { createLiveQuery } from '#web/data/live-query.ts'
import { refetch } from '#web/data/refetch.ts'
import { accessToken } from '#web/data/auth/session.ts'

const rows = z.array(documentRow)
const COLUMNS = Object.keys(documentRow.shape).join(',')

export const documentsKey = ['/api/documents'] as const
const documentList = createLiveQuery<DocumentRow[]>()
/** Below the key of the list, so that who has missed live changes reads both again with one invalidation. */
const documentKey = (id: string) => [...documentsKey, id] as const
const oneDocument = createLiveQuery<DocumentRow | null>()

/** The person's documents, newest first. */
export function documentsQuery() {
  return queryOptions({
    queryKey: documentsKey,
    queryFn: () =>
      documentList.read(documentsKey, () =>
        restWithApiFallback(
          rows,
          () =>
            rest()
              .from('documents')
              .select(COLUMNS)
              .is('superseded_at', null)
              .order('uploaded_at', { ascending: false }),
          async () => (await apiFetch('/api/documents')).json(),
        ),
      ),
  })
}

/** One document; null when it was deleted or belongs to somebody else. */
export function documentQuery(id: string) {
  return queryOptions({
    queryKey: documentKey(id),
    queryFn: () =>
      oneDocument.read(documentKey(id), () =>
        restWithApiFallback(
          documentRow.nullable(),
          () => rest().from('documents').select(COLUMNS).eq('id', id).maybeSingle(),
          () => readOrNull(() => apiJson(`/api/documents/${id}`, documentRow)),
        ),
      ),
  })
}

/** All versions of a document, newest first; none when it was deleted. */
export function versionsQuery({ id, series }: Pick<DocumentRow, 'id' | 'series'>) {
  return queryOptions({
    queryKey: [...documentsKey, 'series', series],
    queryFn: async () => (await readOrNull(() => apiJson(`/api/documents/${id}/versions`, rows))) ?? [],
  })
}

/** How each page of a document was read that does not simply hold its text. */
export function readingReportQuery(id: string) {
  return queryOptions({
    queryKey: [...documentKey(id), 'report'],
    queryFn: () => readOrNull(() => apiJson(`/api/documents/${id}/report`, readingReport)),
  })
}

/** The text of one page or section, counted from 1; null when there is no such page (any more). */
export function pageTextQuery(documentId: string, page: number) {
  return queryOptions({
    queryKey: [`/api/documents/${documentId}/pages/${page}`],
    queryFn: () => readOrNull(() => apiJson(`/api/documents/${documentId}/pages/${page}`, pageText)),
    // A page that is not there yet may come: the document is still being read.
    staleTime: ({ state }) => (state.data === null ? 0 : Number.POSITIVE_INFINITY),
  })
}

/** Where the bytes of a document are: for links, images and the PDF reader, with the cookie. */
export function documentFileUrl(id: string): string {
  return `/api/documents/${encodeURIComponent(id)}/file`
}

export function renameDocument(queryClient: QueryClient) {
  return mutationOptions({
    mutationFn: ({ id, filename }: { id: string; filename: string }) =>
      restWithApiFallback(
        documentRow,
        () => rest().from('documents').update({ filename }).eq('id', id).select(COLUMNS).single(),
        async () => (await apiSend('PATCH', `/api/documents/${id}`, { filename })).json(),
      ),
    onSuccess: (row) => applyDocumentChange(queryClient, { eventType: 'UPDATE', new: row, old: { id: row.id } }),
  })
}

export function deleteDocument(queryClient: QueryClient) {
  return mutationOptions({
    mutationFn: (id: string) =>
      restWithApiFallback(
        z.unknown(),
        () => rest().from('documents').delete().eq('id', id),
        () => readOrNull(() => apiFetch(`/api/documents/${id}`, { method: 'DELETE' })),
      ),
    onSuccess: (_, id) => applyDocumentChange(queryClient, { eventType: 'DELETE', new: {}, old: { id } }),
  })
}

async function readOrNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null
    throw error
  }
}

/** A live change of the table `documents`; `old` holds at least the key. */
interface DocumentChange {
  eventType: 'INSERT' | 'UPDATE' | 'DELETE'
  new: unknown
  old: unknown
}

const changedRow = documentRow.partial().required({ id: true })

/**
 * Takes a live change into every query that shows the document. An insert never replaces a row that is already known:
 * it may come later than the first updates did by another road.
 */
export function applyDocumentChange(queryClient: QueryClient, change: DocumentChange): void {
  const row = changedRow.parse(change.eventType === 'DELETE' ? change.old : change.new)
  if (change.eventType === 'DELETE') {
    documentList.change(queryClient, documentsKey, (list) => list.filter(({ id }) => id !== row.id))
    oneDocument.set(queryClient, documentKey(row.id), null)
    return
  }
  if (change.eventType === 'INSERT') return addDocuments(queryClient, [documentRow.parse(row)])
  const merge = (known: DocumentRow) => ({ ...known, ...definedFields(row) })
  documentList.change(queryClient, documentsKey, (list) =>
    list.map((known) => (known.id === row.id ? merge(known) : known)).filter((known) => known.superseded_at === null),
  )
  if (row.series !== undefined) void refetch(queryClient, { queryKey: [...documentsKey, 'series', row.series] })
  oneDocument.change(queryClient, documentKey(row.id), (known) => known && merge(known))
}

function definedFields(row: z.infer<typeof changedRow>): Partial<DocumentRow> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
}

/** Takes uploaded documents into the list, without replacing what live changes have already said about them. */
export function addDocuments(queryClient: QueryClient, added: readonly DocumentRow[]): void {
  documentList.change(queryClient, documentsKey, (list) => {
    const news = added.filter(({ id }) => !list.some((known) => known.id === id))
    if (news.length === 0) return list
    return [...news, ...list].toSorted((a, b) => Date.parse(b.uploaded_at) - Date.parse(a.uploaded_at))
  })
}

/** What became of one file of an upload; `document` is an older one when the same bytes were there already. */
type UploadOutcome = { file: File; document: DocumentRow } | { file: File; refusal: string }

interface UploadOptions {
  /** Called with the share of a file that has been sent, 0 to 1. */
  onProgress?: (file: File, share: number) => void
  /** Called as soon as the fate of a file is known. */
  onOutcome?: (outcome: UploadOutcome) => void
  signal?: AbortSignal
}

/** How many files are on their way at a time; browsers open six connections to a host, and others need some. */
const UPLOADS_AT_A_TIME = 3

/**
 * Uploads files one by one, so that each has its own progress and its own refusal. What fails is an outcome, not an
 * error; only an abort rejects.
 */
export async function uploadDocuments(files: readonly File[], options: UploadOptions = {}): Promise<UploadOutcome[]> {
  const outcomes = new Map<File, UploadOutcome>()
  const waiting = [...files]
  const send = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const outcome = await uploadFile(file, options)
      outcomes.set(file, outcome)
      options.onOutcome?.(outcome)
    }
  }
  await Promise.all(Array.from({ length: UPLOADS_AT_A_TIME }, send))
  return files.flatMap((file) => outcomes.get(file) ?? [])
}

/** Uploads a file as the next version of a document. */
export function uploadVersion(documentId: string, file: File): Promise<UploadOutcome> {
  return uploadFile(file, {}, `/api/documents/${encodeURIComponent(documentId)}/versions`)
}

async function uploadFile(
  file: File,
  { onProgress, signal }: UploadOptions,
  address = '/api/documents',
): Promise<UploadOutcome> {
  const { status, body } = await postFile(address, file, (share) => onProgress?.(file, share), signal)
  const answer = parseAnswer(body)
  const document = answer?.documents[0]
  if (document) return { file, document }
  return { file, refusal: answer?.rejected[0]?.message ?? errorMessage(body) ?? failureText(status) }
}

function failureText(status: number): string {
  if (status === 0) return 'The upload was interrupted. Check the connection and add the file again.'
  return `The server could not take this file (status ${status}).`
}

/** XMLHttpRequest, because `fetch` does not tell how much of a body has been sent. Status 0: no answer came. */
async function postFile(address: string, file: File, onShare: (share: number) => void, signal?: AbortSignal) {
  const token = await accessToken()
  signal?.throwIfAborted()
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', address)
    request.withCredentials = true
    if (token !== null) request.setRequestHeader('authorization', `Bearer ${token}`)
    request.upload.addEventListener('progress', ({ loaded, total }) => onShare(total > 0 ? loaded / total : 0))
    request.addEventListener('loadend', () => resolve({ status: request.status, body: request.responseText }))
    request.addEventListener('abort', () => reject(new DOMException('The upload was given up', 'AbortError')))
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    const form = new FormData()
    form.append('files', file, file.name)
    request.send(form)
  })
}

const errorBody = z.object({ error: z.object({ message: z.string() }) })

function parseAnswer(body: string): UploadAnswer | null {
  return uploadAnswer.safeParse(parseJson(body)).data ?? null
}

function errorMessage(body: string): string | null {
  return errorBody.safeParse(parseJson(body)).data?.error.message ?? null
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
