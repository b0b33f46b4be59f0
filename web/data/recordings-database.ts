/** Recordings in IndexedDB, which survive a crash. Pieces of a running one have its id and a number as keys. */
import { z } from 'zod'
import { RECORDINGS_DATABASE } from './storage/database-names.ts'
import { createRowStore } from './storage/row-store.ts'

/** Its conversation may have been deleted elsewhere, and then no page shows it. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000

const stored = z.object({
  id: z.string(),
  userId: z.string(),
  /** Null: the new conversation. */
  conversationId: z.string().nullable(),
  audio: z.instanceof(Blob),
  madeAt: z.number(),
})
export type Recording = z.infer<typeof stored>

const { write, readOf } = createRowStore(RECORDINGS_DATABASE, 'recordings')

const BEFORE_NUMBER = ' '
const pieceId = (id: string, n: number): string => `${id}${BEFORE_NUMBER}${String(n).padStart(6, '0')}`
const idOf = (key: string): string => key.split(BEFORE_NUMBER)[0] ?? key

const keyRangeOf = (id: string): IDBKeyRange => IDBKeyRange.bound(id, `${id}${BEFORE_NUMBER}\uffff`)

export const storeRecordings = (recordings: readonly Recording[]): Promise<void> =>
  write((store) => {
    for (const recording of recordings) {
      store.delete(keyRangeOf(recording.id))
      store.put(recording)
    }
  })

/** Stores a piece, unless the recording was removed meanwhile. */
export const storePiece = (piece: Recording, n: number): Promise<void> =>
  write((store) => {
    const put = (): void => void store.put({ ...piece, id: pieceId(piece.id, n) })
    if (n === 0) return put()
    const looking = store.count(pieceId(piece.id, 0))
    looking.addEventListener('success', () => looking.result > 0 && put())
  })

export const removeRecordings = (ids: readonly string[]): Promise<void> =>
  write((store) => ids.forEach((id) => store.delete(keyRangeOf(id))))

/** @param rows sorted by key */
function joinPieces(rows: readonly Recording[]): Recording[] {
  return [...Map.groupBy(rows, ({ id }) => idOf(id))].flatMap(([id, pieces]) => {
    const [first] = pieces
    if (first === undefined) return []
    const audio = new Blob(
      pieces.map((piece) => piece.audio),
      { type: first.audio.type },
    )
    return { ...first, id, audio }
  })
}

export async function readRecordings(userId: string): Promise<Recording[]> {
  const { rows, keys } = await readOf(userId)
  const recordings = joinPieces(rows.flatMap((row) => stored.safeParse(row).data ?? []))
    .filter(({ madeAt }) => Date.now() - madeAt < MAX_AGE_MS)
    .toSorted((a, b) => a.madeAt - b.madeAt)
  const known = new Set(recordings.map(({ id }) => id))
  const outdated = new Set(keys.map(idOf)).difference(known)
  if (outdated.size > 0) await removeRecordings([...outdated])
  return recordings
}
