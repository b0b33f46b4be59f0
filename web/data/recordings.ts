/**
 * What a person has said and nobody has turned into text yet, per conversation, over a reload and a crash. Whoever signs in
 * next in the same browser does not see it.
 */
import { create } from 'zustand'
import type * as RecordingsDatabase from './recordings-database.ts'
import type { Recording } from './recordings-database.ts'

export const useRecordings = create<{ recordings: readonly Recording[] }>(() => ({ recordings: [] }))

/** Says that the database is worth opening: most visits end without a recording. */
const markOf = (userId: string): string => `alcove-recordings:${userId}`

/** The part that writes to the disk, fetched early: a recording fails above all where nothing can be fetched any more. */
export const recordingsDatabase = (): Promise<typeof RecordingsDatabase> => import('./recordings-database.ts')

let writing = Promise.resolve()

/** Does one thing after the other in the database; what is in memory holds without it. */
function write(act: (database: typeof RecordingsDatabase) => Promise<void>): void {
  writing = writing
    .then(recordingsDatabase)
    .then(act)
    .catch((error: unknown) => console.error(error))
}

export function keepRecording(recording: Recording): void {
  useRecordings.setState(({ recordings }) => ({ recordings: [...recordings, recording] }))
  write(({ storeRecordings }) => {
    localStorage.setItem(markOf(recording.userId), '')
    return storeRecordings([recording])
  })
}

export function forgetRecording({ id }: Recording): void {
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((kept) => kept.id !== id) }))
  write(({ removeRecordings }) => removeRecordings([id]))
}

/** Forgets everything that a person has said: in one conversation that is gone, or in all, where that person signs out. */
export function forgetRecordings(userId: string, conversationId?: string): void {
  const isMeant = (recording: Recording): boolean =>
    recording.userId === userId && (conversationId === undefined || recording.conversationId === conversationId)
  const isInMemory = useRecordings.getState().recordings.some(isMeant)
  if (!isInMemory && localStorage.getItem(markOf(userId)) === null) return
  useRecordings.setState(({ recordings }) => ({ recordings: recordings.filter((kept) => !isMeant(kept)) }))
  write(async ({ readRecordings, removeRecordings }) => {
    const stored = await readRecordings(userId)
    await removeRecordings(stored.filter(isMeant).map(({ id }) => id))
  })
}

/** What was said for a conversation that had not begun yet goes on with it. */
export function adoptRecordings(userId: string, conversationId: string): void {
  const adopted = useRecordings
    .getState()
    .recordings.filter((kept) => kept.userId === userId && kept.conversationId === null)
    .map((recording) => ({ ...recording, conversationId }))
  if (adopted.length === 0) return
  useRecordings.setState(({ recordings }) => ({
    recordings: recordings.map((kept) => adopted.find(({ id }) => id === kept.id) ?? kept),
  }))
  write(({ storeRecordings }) => storeRecordings(adopted))
}

/** Brings back what a person left behind in this browser. Returns the function that takes it out of memory again. */
export function recallRecordings(userId: string): () => void {
  let left = false
  if (localStorage.getItem(markOf(userId)) !== null)
    write(async ({ readRecordings }) => {
      const found = await readRecordings(userId)
      if (found.length === 0) localStorage.removeItem(markOf(userId))
      if (left) return
      useRecordings.setState(({ recordings }) => ({
        recordings: [...found.filter(({ id }) => recordings.every((kept) => kept.id !== id)), ...recordings],
      }))
    })
  return () => {
    left = true
    useRecordings.setState({ recordings: [] })
  }
}
