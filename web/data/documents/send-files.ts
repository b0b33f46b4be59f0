/** Sends many files: a few at a time, none whose bytes the server has already, and again after a lost connection. */
import { knownDocuments, type DocumentRow } from '#contract/document.ts'
import { MAX_CONCURRENT_UPLOADS } from '#contract/upload-limits.ts'
import { apiSend, HttpError } from '#web/data/client.ts'
import { spaceOfChange, type Space } from '#web/data/current-space.ts'
import { delay, untilReachable } from './reachable-server.ts'
import { tryUpload, type UploadOutcome } from './upload-file.ts'

export interface FileToSend {
  readonly key: string
  readonly file: File
  /** As in `documentRow`. */
  readonly folder: string
}

export interface SendOptions {
  /** Where the documents go. */
  readonly space: Space
  readonly signal: AbortSignal
  /** Resolves when files may be sent; rejects when `signal` aborts. */
  readonly untilResumed: (signal: AbortSignal) => Promise<void>
  /** `share` of the file that has been sent, 0 to 1. */
  readonly onProgress: (key: string, share: number) => void
  readonly onOutcome: (key: string, outcome: UploadOutcome) => void
  readonly onConnection: (isLost: boolean) => void
}

/** Files whose hashes are asked for in one request, at most this many and about this many bytes. */
const GROUP_FILES = 50
const GROUP_BYTES = 8 * 1024 * 1024
/** A connection that is there again and breaks off again for this file: something in between refuses it. */
const MAX_INTERRUPTIONS = 5

interface HashedFile extends FileToSend {
  /** Null on plain http, where browsers do not hash: the server compares what it receives. */
  readonly sha256: string | null
}

/** Calls `onOutcome` once for each file. @throws only when the signal aborts */
export async function sendFiles(files: readonly FileToSend[], options: SendOptions): Promise<void> {
  const unknown = createUnknownFiles(files, options)
  const sendNext = async () => {
    for (;;) {
      await options.untilResumed(options.signal)
      const file = await unknown.next()
      if (file === undefined) return
      unknown.end(file, await sendFile(file, options))
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT_UPLOADS }, sendNext))
}

/** Finds the files that the server does not have. Files with equal bytes share the outcome of the first. */
function createUnknownFiles(files: readonly FileToSend[], options: SendOptions) {
  const { onOutcome } = options
  const found: HashedFile[] = []
  const outcomes = new Map<string, { outcome: UploadOutcome | undefined; readonly others: string[] }>()
  let position = 0
  let finding: Promise<void> | undefined

  async function findInNextGroup(): Promise<void> {
    const group = await hashGroup()
    const known = await findKnown([...new Set(group.flatMap(({ sha256 }) => sha256 ?? []))], options)
    for (const file of group) {
      if (file.sha256 === null) {
        found.push(file)
        continue
      }
      const document = known.get(file.sha256)
      const first = outcomes.get(file.sha256)
      if (document) onOutcome(file.key, { document, isNew: false })
      else if (first === undefined) {
        outcomes.set(file.sha256, { outcome: undefined, others: [] })
        found.push(file)
      } else if (first.outcome) onOutcome(file.key, asRepeated(first.outcome))
      else first.others.push(file.key)
    }
  }

  async function hashGroup(): Promise<HashedFile[]> {
    const group: HashedFile[] = []
    for (let bytes = 0; group.length < GROUP_FILES && bytes < GROUP_BYTES; position += 1) {
      const file = files[position]
      if (file === undefined) break
      options.signal.throwIfAborted()
      const sha256 = await hashFile(file.file)
      if (sha256 === undefined) onOutcome(file.key, { refusal: UNREADABLE })
      else group.push({ ...file, sha256 })
      bytes += file.file.size
    }
    return group
  }

  return {
    async next(): Promise<HashedFile | undefined> {
      while (found.length === 0 && (finding !== undefined || position < files.length)) {
        finding ??= findInNextGroup().finally(() => (finding = undefined))
        await finding
      }
      return found.shift()
    },
    end({ key, sha256 }: HashedFile, outcome: UploadOutcome): void {
      const known = sha256 === null ? undefined : outcomes.get(sha256)
      onOutcome(key, outcome)
      for (const other of known?.others ?? []) onOutcome(other, asRepeated(outcome))
      if (known) known.outcome = outcome
    },
  }
}

const UNREADABLE = 'This file cannot be read any more. It was moved or changed after it was chosen.'

const asRepeated = (outcome: UploadOutcome): UploadOutcome =>
  'document' in outcome ? { ...outcome, isNew: false } : outcome

/** Null on plain http; undefined if the browser cannot read the file any more. */
async function hashFile(file: File): Promise<string | null | undefined> {
  if (!isSecureContext) return null
  try {
    const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()))
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  } catch (error) {
    console.error(error)
    return undefined
  }
}

/** The documents by hash. None if the server does not answer the question: it compares what it receives as well. */
async function findKnown(
  hashes: readonly string[],
  { space, signal, onConnection }: SendOptions,
): Promise<ReadonlyMap<string, DocumentRow>> {
  if (hashes.length === 0) return new Map()
  for (;;) {
    try {
      const answer = await apiSend('POST', `/api/documents/known${spaceOfChange(space)}`, { sha256: hashes })
      return new Map(knownDocuments.parse(await answer.json()).map(({ sha256, document }) => [sha256, document]))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof HttpError) {
        console.error(error)
        return new Map()
      }
      await untilReachable({ signal, onConnection })
    }
  }
}

async function sendFile(file: HashedFile, options: SendOptions): Promise<UploadOutcome> {
  const { signal, untilResumed, onProgress, onConnection } = options
  for (let interruptions = 0; ;) {
    await untilResumed(signal)
    const attempt = await tryUpload(file.file, {
      folder: file.folder,
      space: options.space,
      signal,
      onProgress: (share) => onProgress(file.key, share),
    })
    if ('outcome' in attempt) return attempt.outcome
    onProgress(file.key, 0)
    if ('retryAfterMs' in attempt) {
      await delay(attempt.retryAfterMs, signal)
      continue
    }
    interruptions += 1
    if (interruptions > MAX_INTERRUPTIONS) return { refusal: attempt.interruption }
    await untilReachable({ signal, onConnection })
    // The answer may have been lost after the file had arrived.
    if (file.sha256 === null) continue
    const document = (await findKnown([file.sha256], options)).get(file.sha256)
    if (document) return { document, isNew: true }
  }
}
