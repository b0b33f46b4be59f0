/** Recordings without a transcript. They survive a crash; other people who sign in on this browser do not see them. */
import { create } from 'zustand'
import { ownName } from '#web/data/base-path.ts'
import type * as RecordingsDatabase from './recordings-database.ts'
import type { Recording } from './recordings-database.ts'
import { databaseExists } from './storage/database-exists.ts'
import { RECORDINGS_DATABASE } from './storage/database-names.ts'
import { holdLock, readHeldLocks } from './storage/page-lock.ts'
import { markStored, markUnstored } from './storage/unstored.ts'

export const useRecordings = create<{ recordings: readonly Recording[] }>(() => ({ recordings: [] }))

/** Loaded early: recordings matter most when the network fails. */
export const recordingsDatabase = (): Promise<typeof RecordingsDatabase> => import('./recordings-database.ts')

let writing = Promise.resolve()

function write(
  act: (database: typeof RecordingsDatabase) => Promise<void>,
  onFailure: () => void = () => undefined,
): Promise<void> {
  writing = writing
    .then(recordingsDatabase)
    .then(act)
    .catch((error: unknown) => {
      console.warn('Recordings are not stored', error)
      onFailure()
    })
  return writing
}

const isListed = ({ id }: Recording): boolean => useRecordings.getState().recordings.some((one) => one.id === id)

function store(recordings: readonly Recording[]): Promise<void> {
  const left = recordings.filter(isListed)
  for (const { id } of recordings) if (!left.some((one) => one.id === id)) markStored(id)
  return write(
    async ({ storeRecordings }) => {
      await storeRecordings(left)
      for (const { id } of left) markStored(id)
    },
    () => {
      for (const recording of left.filter(isListed))
        markUnstored(recording.id, 'recordings', () => void store([recording]))
    },
  )
}

const remove = (ids: readonly string[]): Promise<void> => {
  ids.forEach(markStored)
  return write(({ removeRecordings }) => removeRecordings(ids))
}

/** Most visits never load the database. */
function whenStored(act: (database: typeof RecordingsDatabase) => Promise<void>): void {
  writing = writing
    .then(async () => {
      if (await databaseExists(RECORDINGS_DATABASE)) await act(await recordingsDatabase())
    })
    .catch((error: unknown) => console.warn('Stored recordings cannot be read', error))
}

/** The recording page holds a Web Lock: a recording without a lock is one that its page left behind. */
const LOCK = ownName('alcove-recording:')

const readLocks = async (): Promise<Set<string>> =>
  new Set(((await readHeldLocks()) ?? []).map((name) => name.replace(LOCK, '')))

type RecordingWriter = {
  add: (chunk: Blob) => void
  finish: (audio: Blob) => Recording
  discard: () => void
}

/** Writes a running recording; it is listed only after its end, or the end of its page. */
export function createRecordingWriter(of: Pick<Recording, 'userId' | 'conversationId'>): RecordingWriter {
  const begun = { ...of, id: crypto.randomUUID(), madeAt: Date.now() }
  const release = holdLock(`${LOCK}${begun.id}`)
  let isRunning = true
  const reportUnstored = (): void => {
    if (isRunning) markUnstored(begun.id, 'recordings', () => undefined)
  }
  let count = 0
  return {
    add(audio) {
      const n = count
      count += 1
      void write(({ storePiece }) => storePiece({ ...begun, audio }, n), reportUnstored)
    },
    finish(audio) {
      isRunning = false
      const recording = { ...begun, audio }
      useRecordings.setState(({ recordings }) => ({ recordings: [...recordings, recording] }))
      void store([recording]).then(release)
      return recording
    },
    discard() {
      isRunning = false
      void remove([begun.id]).then(release)
    },
  }
}

/** It leaves the list once it has left the database: a page that is closed in between would bring it back. */
export function deleteRecording({ id }: Recording): void {
  void remove([id]).finally(() =>
    useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((recording) => recording.id !== id) })),
  )
}

export function deleteRecordings(userId: string, conversationId?: string): void {
  const isMeant = (recording: Recording): boolean =>
    recording.userId === userId && (conversationId === undefined || recording.conversationId === conversationId)
  const listed = useRecordings.getState().recordings.filter(isMeant)
  listed.forEach(({ id }) => markStored(id))
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((recording) => !isMeant(recording)) }))
  whenStored(async ({ readRecordings, removeRecordings }) => {
    const stored = await readRecordings(userId)
    await removeRecordings(stored.filter(isMeant).map(({ id }) => id))
  })
}

/** Moves recordings from one message box to another; null: that of a new conversation. */
export function moveRecordings(userId: string, from: string | null, to: string | null): void {
  const assigned = useRecordings
    .getState()
    .recordings.filter((recording) => recording.userId === userId && recording.conversationId === from)
    .map((recording) => ({ ...recording, conversationId: to }))
  if (assigned.length === 0) return
  useRecordings.setState(({ recordings }) => ({
    recordings: recordings.map((recording) => assigned.find(({ id }) => id === recording.id) ?? recording),
  }))
  void store(assigned)
}

/** Lists the recordings that a person left behind in this browser. Returns the function that empties the list. */
export function restoreRecordings(userId: string): () => void {
  let left = false
  whenStored(async ({ readRecordings }) => {
    // Read before the recordings: one that ends in between is listed on the next visit, not incompletely now.
    const running = await readLocks()
    const found = await readRecordings(userId)
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
