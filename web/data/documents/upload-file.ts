import { z } from 'zod'
import { uploadAnswer, type DocumentRow, type UploadAnswer } from '#contract/document.ts'
import { ownPath } from '#web/data/base-path.ts'
import { sendAsPerson } from '#web/data/client.ts'
import { spaceOfChange, type Space } from '#web/data/current-space.ts'

/** `isNew` is false, and `document` an existing one, if the same bytes were uploaded before. */
export type UploadOutcome = { document: DocumentRow; isNew: boolean } | { refusal: string }

/** Without an outcome, the file may be sent again: after a while that the server asks for, or when it can be reached. */
type UploadAttempt = { outcome: UploadOutcome } | { retryAfterMs: number } | { interruption: string }

interface UploadOptions {
  folder?: string
  /** Personal if absent. */
  space?: Space
  /** `share` of the file that has been sent, 0 to 1. */
  onProgress?: (share: number) => void
  signal?: AbortSignal
}

const INTERRUPTION = 'The upload was interrupted. Check the connection and add the file again.'

const uploadAddress = (space: Space): string => `/api/documents${spaceOfChange(space)}`

/** Returns the stored document, an existing one for known bytes. @throws the refusal of the server */
export async function uploadFile(file: File, space: Space): Promise<DocumentRow> {
  const outcome = outcomeOf(await postFile(uploadAddress(space), file, {}))
  if ('refusal' in outcome) throw new Error(outcome.refusal)
  return outcome.document
}

/** @throws only when `signal` aborts */
export async function tryUpload(file: File, options: UploadOptions): Promise<UploadAttempt> {
  const answer = await postFile(uploadAddress(options.space ?? null), file, options)
  if (answer.status === 0) return { interruption: INTERRUPTION }
  const retryAfterMs = retryAfter(answer)
  return retryAfterMs === undefined ? { outcome: outcomeOf(answer) } : { retryAfterMs }
}

export async function uploadDocumentVersion(documentId: string, file: File): Promise<UploadOutcome> {
  const answer = await postFile(`/api/documents/${encodeURIComponent(documentId)}/versions`, file, {})
  return outcomeOf(answer)
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfterSeconds: string | null
}

const CREATED = 201
/** The server limits requests, or is about to stop. */
const LATER = [429, 503]
const DEFAULT_RETRY_S = 2

function retryAfter({ status, retryAfterSeconds }: Answer): number | undefined {
  if (!LATER.includes(status)) return undefined
  return 1000 * (z.coerce.number().positive().safeParse(retryAfterSeconds).data ?? DEFAULT_RETRY_S)
}

function outcomeOf({ status, body }: Answer): UploadOutcome {
  if (status === 0) return { refusal: INTERRUPTION }
  const answer = parseUploadAnswer(body)
  const document = answer?.documents[0]
  if (document) return { document, isNew: status === CREATED }
  const refusal = answer?.rejected[0]?.message ?? parseErrorMessage(body)
  return { refusal: refusal ?? `The server could not take this file (status ${status}).` }
}

const postFile = (address: string, file: File, options: UploadOptions): Promise<Answer> =>
  sendAsPerson((token) => sendFile(address, file, options, token))

/** Uses XMLHttpRequest because `fetch` reports no upload progress. Status 0: no answer came. */
function sendFile(
  address: string,
  file: File,
  { folder = '', onProgress, signal }: UploadOptions,
  token: string | null,
): Promise<Answer> {
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', ownPath(address))
    request.withCredentials = true
    if (token !== null) request.setRequestHeader('authorization', `Bearer ${token}`)
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0))
    const giveUp = () => request.abort()
    request.addEventListener('loadend', () => {
      signal?.removeEventListener('abort', giveUp)
      resolve({
        status: request.status,
        body: request.responseText,
        retryAfterSeconds: request.getResponseHeader('retry-after'),
      })
    })
    request.addEventListener('abort', () => reject(new DOMException('The upload was given up', 'AbortError')))
    signal?.addEventListener('abort', giveUp)
    const form = new FormData()
    // The folder applies to the files that follow it.
    if (folder !== '') form.append('folder', folder)
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
