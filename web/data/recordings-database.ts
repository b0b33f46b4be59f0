/** Recordings in the browser's own database, where they outlive the page and a crash of it. Fetched when it is needed. */
import { z } from 'zod'

const STORE = 'recordings'
const BY_PERSON = 'by person'

/** Its conversation may have been deleted elsewhere meanwhile, and then nobody sees it any more. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

const stored = z.object({
  id: z.string(),
  userId: z.string(),
  /** The conversation it was made for; null: the one that begins with it. */
  conversationId: z.string().nullable(),
  audio: z.instanceof(Blob),
  madeAt: z.number(),
})
export type Recording = z.infer<typeof stored>

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('The database of the browser failed')))
  })
}

let opened: Promise<IDBDatabase> | null = null

function open(): Promise<IDBDatabase> {
  if (opened !== null) return opened
  const request = indexedDB.open('alcove-recordings', 1)
  request.addEventListener('upgradeneeded', () => {
    request.result.createObjectStore(STORE, { keyPath: 'id' }).createIndex(BY_PERSON, 'userId')
  })
  opened = resultOf(request)
  opened.catch(() => (opened = null))
  return opened
}

/** Runs what is to be done in one transaction; resolves when that is done. */
async function write(act: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = (await open()).transaction(STORE, 'readwrite')
  const ended = new Promise<void>((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve())
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('Nothing was written')))
  })
  act(transaction.objectStore(STORE))
  await ended
}

export const storeRecordings = (recordings: readonly Recording[]): Promise<void> =>
  write((store) => recordings.forEach((recording) => store.put(recording)))

export const removeRecordings = (ids: readonly string[]): Promise<void> =>
  write((store) => ids.forEach((id) => store.delete(id)))

/** The recordings of one person, the oldest first; what is too old or of an earlier make is removed. */
export async function readRecordings(userId: string): Promise<Recording[]> {
  const store = (await open()).transaction(STORE).objectStore(STORE)
  const [rows, keys] = await Promise.all([
    resultOf(store.index(BY_PERSON).getAll(userId)),
    resultOf(store.index(BY_PERSON).getAllKeys(userId)),
  ])
  const recordings = rows
    .flatMap((row) => stored.safeParse(row).data ?? [])
    .filter(({ madeAt }) => Date.now() - madeAt < KEPT_MS)
    .toSorted((a, b) => a.madeAt - b.madeAt)
  const known = new Set(recordings.map(({ id }) => id))
  const outdated = keys.map(String).filter((id) => !known.has(id))
  if (outdated.length > 0) await removeRecordings(outdated)
  return recordings
}
