/**
 * What a person has said and nobody has turned into text yet, per conversation, over a reload and a crash. Whoever signs in
 * next in the same browser does not see it.
 */
import { create } from 'zustand'
import type * as RecordingsDatabase from './recordings-database.ts'
import type { Recording } from './recordings-database.ts'

export const useRecordings = create<{ recordings: readonly Recording[] }>(() => ({ recordings: [] }))

/** Says that the database is worth opening: most visits end without a recording. */
const markerKey = (userId: string): string => `alcove-recordings:${userId}`

/** The part that writes to the disk, fetched early: a recording fails above all where nothing can be fetched any more. */
export const recordingsDatabase = (): Promise<typeof RecordingsDatabase> => import('./recordings-database.ts')

let writing = Promise.resolve()

/** Does one thing after the other in the database; what is in memory holds without it. */
function write(act: (database: typeof RecordingsDatabase) => Promise<void>): Promise<void> {
  writing = writing
    .then(recordingsDatabase)
    .then(act)
    .catch((error: unknown) => console.error(error))
  return writing
}

/** Held by the page that records, which the browser lets go with it: what no page holds was left behind. */
const LOCK = 'alcove-recording:'

function holdLock(id: string): () => void {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  navigator.locks.request(`${LOCK}${id}`, () => promise).catch((error: unknown) => console.error(error))
  return () => resolve(undefined)
}

async function readLocks(): Promise<Set<string>> {
  const { held = [] } = await navigator.locks.query()
  return new Set(held.map(({ name = '' }) => name.replace(LOCK, '')))
}

type RecordingWriter = {
  /** Writes what was said since the last time to the disk. */
  add: (chunk: Blob) => void
  /** Ends it with everything that was said, which is offered from now on. */
  finish: (audio: Blob) => Recording
  /** Ends it as if nothing had been said. */
  discard: () => void
}

/** A recording that is being made: nowhere offered before its end, or the end of its page. */
export function createRecordingWriter(of: Pick<Recording, 'userId' | 'conversationId'>): RecordingWriter {
  const begun = { ...of, id: crypto.randomUUID(), madeAt: Date.now() }
  const release = holdLock(begun.id)
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
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((kept) => kept.id !== id) }))
  void write(({ removeRecordings }) => removeRecordings([id]))
}

/** Forgets everything that a person has said: in one conversation that is gone, or in all, where that person signs out. */
export function deleteRecordings(userId: string, conversationId?: string): void {
  const isMeant = (recording: Recording): boolean =>
    recording.userId === userId && (conversationId === undefined || recording.conversationId === conversationId)
  const isInMemory = useRecordings.getState().recordings.some(isMeant)
  if (!isInMemory && localStorage.getItem(markerKey(userId)) === null) return
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((kept) => !isMeant(kept)) }))
  void write(async ({ readRecordings, removeRecordings }) => {
    const stored = await readRecordings(userId)
    await removeRecordings(stored.filter(isMeant).map(({ id }) => id))
  })
}

/** What was said for a conversation that had not begun yet goes on with it. */
export function assignRecordings(userId: string, conversationId: string): void {
  const adopted = useRecordings
    .getState()
    .recordings.filter((kept) => kept.userId === userId && kept.conversationId === null)
    .map((recording) => ({ ...recording, conversationId }))
  if (adopted.length === 0) return
  useRecordings.setState(({ recordings }) => ({
    recordings: recordings.map((kept) => adopted.find(({ id }) => id === kept.id) ?? kept),
  }))
  void write(({ storeRecordings }) => storeRecordings(adopted))
}

/** Brings back what a person left behind in this browser. Returns the function that takes it out of memory again. */
export function restoreRecordings(userId: string): () => void {
  let left = false
  if (localStorage.getItem(markerKey(userId)) !== null)
    void write(async ({ readRecordings }) => {
      // Asked first: one that ends in between is missed until the next visit, not offered without its end.
      const running = await readLocks()
      const found = await readRecordings(userId)
      if (found.length === 0) localStorage.removeItem(markerKey(userId))
      if (left) return
      useRecordings.setState(({ recordings }) => ({
        recordings: [
          ...found.filter(({ id }) => !running.has(id) && recordings.every((kept) => kept.id !== id)),
          ...recordings,
        ],
      }))
    })
  return () => {
    left = true
    useRecordings.setState({ recordings: [] })
  }
}
