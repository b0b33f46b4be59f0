import { z } from 'zod'
import { uploadAnswer, type DocumentRow, type UploadAnswer } from '#contract/document.ts'
import { MAX_CONCURRENT_UPLOADS } from '#contract/upload-limits.ts'
import { accessToken } from '#web/data/auth/session.ts'

/** The result for one file; `document` is an existing one if the same bytes were uploaded before. */
type UploadOutcome = { file: File; document: DocumentRow } | { file: File; refusal: string }

interface UploadOptions {
  /** `share` of the file that has been sent, 0 to 1. */
  onProgress?: (file: File, share: number) => void
  onOutcome?: (outcome: UploadOutcome) => void
  signal?: AbortSignal
}

/** Sends one request per file, for its own progress and rejection message. @throws only when `signal` aborts */
export async function uploadDocuments(files: readonly File[], options: UploadOptions = {}): Promise<UploadOutcome[]> {
  const outcomes = new Map<File, UploadOutcome>()
  const queue = [...files]
  const uploadNext = async () => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      const outcome = await uploadFile(file, options)
      outcomes.set(file, outcome)
      options.onOutcome?.(outcome)
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT_UPLOADS }, uploadNext))
  return files.flatMap((file) => outcomes.get(file) ?? [])
}

export function uploadDocumentVersion(documentId: string, file: File): Promise<UploadOutcome> {
  return uploadFile(file, {}, `/api/documents/${encodeURIComponent(documentId)}/versions`)
}

async function uploadFile(
  file: File,
  { onProgress, signal }: UploadOptions,
  address = '/api/documents',
): Promise<UploadOutcome> {
  const { status, body } = await postFile(address, file, (share) => onProgress?.(file, share), signal)
  const answer = parseUploadAnswer(body)
  const document = answer?.documents[0]
  if (document) return { file, document }
  return { file, refusal: answer?.rejected[0]?.message ?? parseErrorMessage(body) ?? failureText(status) }
}

function failureText(status: number): string {
  if (status === 0) return 'The upload was interrupted. Check the connection and add the file again.'
  return `The server could not take this file (status ${status}).`
}

/** Uses XMLHttpRequest because `fetch` reports no upload progress. Status 0: no answer came. */
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

function parseUploadAnswer(body: string): UploadAnswer | null {
  return uploadAnswer.safeParse(parseJson(body)).data ?? null
}

function parseErrorMessage(body: string): string | null {
  return errorBody.safeParse(parseJson(body)).data?.error.message ?? null
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
