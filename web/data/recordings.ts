/** Recordings without a transcript. They survive a crash; other people who sign in on this browser do not see them. */
import { create } from 'zustand'
import { ownName } from '#web/data/base-path.ts'
import { holdLock } from './page-lock.ts'
import type * as RecordingsDatabase from './recordings-database.ts'
import type { Recording } from './recordings-database.ts'

export const useRecordings = create<{ recordings: readonly Recording[] }>(() => ({ recordings: [] }))

/** Marks that recordings exist: most visits never open the database. */
const markerKey = (userId: string): string => ownName(`alcove-recordings:${userId}`)

/** Loaded early: recordings matter most when the network fails. */
export const recordingsDatabase = (): Promise<typeof RecordingsDatabase> => import('./recordings-database.ts')

let writing = Promise.resolve()

function write(act: (database: typeof RecordingsDatabase) => Promise<void>): Promise<void> {
  writing = writing
    .then(recordingsDatabase)
    .then(act)
    .catch((error: unknown) => console.error(error))
  return writing
}

/** The recording page holds a Web Lock: a recording without a lock is one that its page left behind. */
const LOCK = ownName('alcove-recording:')

async function readLocks(): Promise<Set<string>> {
  const { held = [] } = await navigator.locks.query()
  return new Set(held.map(({ name = '' }) => name.replace(LOCK, '')))
}

type RecordingWriter = {
  add: (chunk: Blob) => void
  finish: (audio: Blob) => Recording
  discard: () => void
}

/** Writes a running recording; it is listed only after its end, or the end of its page. */
export function createRecordingWriter(of: Pick<Recording, 'userId' | 'conversationId'>): RecordingWriter {
  const begun = { ...of, id: crypto.randomUUID(), madeAt: Date.now() }
  const release = holdLock(`${LOCK}${begun.id}`)
  const toDisk = (act: Parameters<typeof write>[0]): Promise<void> =>
    write((database) => {
      localStorage.setItem(markerKey(of.userId), '')
      return act(database)
    })
  let count = 0
  return {
    add(audio) {
      const n = count
      count += 1
      void toDisk(({ storePiece }) => storePiece({ ...begun, audio }, n))
    },
    finish(audio) {
      const recording = { ...begun, audio }
      useRecordings.setState(({ recordings }) => ({ recordings: [...recordings, recording] }))
      void toDisk(({ storeRecordings }) => storeRecordings([recording])).then(release)
      return recording
    },
    discard() {
      void write(({ removeRecordings }) => removeRecordings([begun.id])).then(release)
    },
  }
}

export function deleteRecording({ id }: Recording): void {
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((recording) => recording.id !== id) }))
  void write(({ removeRecordings }) => removeRecordings([id]))
}

export function deleteRecordings(userId: string, conversationId?: string): void {
  const isMeant = (recording: Recording): boolean =>
    recording.userId === userId && (conversationId === undefined || recording.conversationId === conversationId)
  const isInMemory = useRecordings.getState().recordings.some(isMeant)
  if (!isInMemory && localStorage.getItem(markerKey(userId)) === null) return
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((recording) => !isMeant(recording)) }))
  void write(async ({ readRecordings, removeRecordings }) => {
    const stored = await readRecordings(userId)
    await removeRecordings(stored.filter(isMeant).map(({ id }) => id))
  })
}

export function assignRecordings(userId: string, conversationId: string): void {
  const assigned = useRecordings
    .getState()
    .recordings.filter((recording) => recording.userId === userId && recording.conversationId === null)
    .map((recording) => ({ ...recording, conversationId }))
  if (assigned.length === 0) return
  useRecordings.setState(({ recordings }) => ({
    recordings: recordings.map((recording) => assigned.find(({ id }) => id === recording.id) ?? recording),
  }))
  void write(({ storeRecordings }) => storeRecordings(assigned))
}

/** Lists the recordings that a person left behind in this browser. Returns the function that empties the list. */
export function restoreRecordings(userId: string): () => void {
  let left = false
  if (localStorage.getItem(markerKey(userId)) !== null)
    void write(async ({ readRecordings }) => {
      // Read before the recordings: one that ends in between is listed on the next visit, not incompletely now.
      const running = await readLocks()
      const found = await readRecordings(userId)
      if (found.length === 0) localStorage.removeItem(markerKey(userId))
      if (left) return
      useRecordings.setState(({ recordings }) => ({
        recordings: [
          ...found.filter(({ id }) => !running.has(id) && recordings.every((recording) => recording.id !== id)),
          ...recordings,
        ],
      }))
    })
  return () => {
    left = true
    useRecordings.setState({ recordings: [] })
  }
}
