/** Files that were chosen and not sent yet, in IndexedDB: after a reload the page sends those that an earlier page left. */
import { z } from 'zod'
import { ownName } from '#web/data/base-path.ts'
import type { Space } from '#web/data/current-space.ts'
import { databaseExists } from '#web/data/storage/database-exists.ts'
import { UNSENT_FILES_DATABASE } from '#web/data/storage/database-names.ts'
import { holdLock, withFreeLock } from '#web/data/storage/page-lock.ts'
import { createRowStore } from '#web/data/storage/row-store.ts'
import { markStored, markUnstored } from '#web/data/storage/unstored.ts'
import type { FileToSend } from './send-files.ts'

const lockOf = (run: string): string => ownName(`alcove-unsent-files:${run}`)

const { write, readOf } = createRowStore(UNSENT_FILES_DATABASE, 'files')

const storedFile = z.object({
  id: z.string(),
  userId: z.string(),
  /** The files that were chosen together, of which one page at a time sends. */
  run: z.string(),
  /** Place among the files of the run. */
  n: z.int(),
  file: z.instanceof(File),
  folder: z.string(),
  space: z.string().nullable().default(null),
  chosenAt: z.number(),
})
type StoredFile = z.infer<typeof storedFile>

/** A person who has not come back for so long has given up. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000
/** The browser copies the bytes of all files of a transaction before it ends. */
const STORED_TOGETHER = 50

let writing = Promise.resolve()

function enqueue(act: () => Promise<void>): Promise<void> {
  writing = writing.then(act).catch((error: unknown) => console.warn('Unsent files are not stored', error))
  return writing
}

interface RememberedFiles {
  /** For a file that was sent or refused. */
  forget: (key: string) => void
  release: () => void
}

function createForgetter(): { forget: (key: string) => void; isForgotten: (key: string) => boolean } {
  const forgotten = new Set<string>()
  let unwritten: string[] = []
  return {
    isForgotten: (key) => forgotten.has(key),
    forget(key) {
      forgotten.add(key)
      unwritten.push(key)
      if (unwritten.length > 1) return
      void enqueue(async () => {
        const keys = unwritten
        unwritten = []
        await write((store) => keys.forEach((one) => store.delete(one)))
      })
    },
  }
}

/** Stores the files while they are sent. A reload before all are stored loses the rest. */
export function rememberFiles(userId: string, files: readonly FileToSend[], space: Space): RememberedFiles {
  const run = crypto.randomUUID()
  const release = holdLock(lockOf(run))
  const { forget, isForgotten } = createForgetter()
  const unstored = new Set<string>()
  let isReleased = false
  const rows = files.map(({ key, file, folder }, n): StoredFile => ({
    id: key,
    userId,
    run,
    n,
    file,
    folder,
    space,
    chosenAt: Date.now(),
  }))
  const store = async (some: readonly StoredFile[], entry: string): Promise<void> => {
    const left = some.filter(({ id }) => !isForgotten(id))
    try {
      if (left.length > 0) await write((stored) => left.forEach((row) => stored.put(row)))
    } catch (error) {
      // Not retried: the files are being sent, and the browser would copy all their bytes each time.
      if (!isReleased) markUnstored(entry, 'files', () => undefined)
      unstored.add(entry)
      throw error
    }
  }
  for (let first = 0; first < rows.length; first += STORED_TOGETHER)
    void enqueue(() => store(rows.slice(first, first + STORED_TOGETHER), `${run} ${first}`))
  return {
    forget,
    release() {
      isReleased = true
      unstored.forEach(markStored)
      void enqueue(async () => release())
    },
  }
}

/** Sends the files that pages of this person left, each run in one page. */
export async function sendLeftFiles(
  userId: string,
  send: (files: readonly FileToSend[], space: Space, forget: (key: string) => void) => Promise<void>,
): Promise<void> {
  if (!(await databaseExists(UNSENT_FILES_DATABASE))) return
  const runs = new Set((await readFiles(userId)).map(({ run }) => run))
  const sendRun = (run: string) =>
    withFreeLock(lockOf(run), async () => {
      // Read again: another page may have sent some before this one got the lock.
      const left = (await readFiles(userId)).filter((file) => file.run === run)
      const [first] = left
      if (first === undefined) return
      const { forget } = createForgetter()
      await send(
        left.map(({ id, file, folder }) => ({ key: id, file, folder })),
        first.space,
        forget,
      )
      await writing
    })
  await Promise.all([...runs].map(sendRun))
}

async function readFiles(userId: string): Promise<StoredFile[]> {
  const { rows, keys } = await readOf(userId)
  const files = rows
    .flatMap((row) => storedFile.safeParse(row).data ?? [])
    .filter(({ chosenAt }) => Date.now() - chosenAt < MAX_AGE_MS)
    .toSorted((a, b) => a.n - b.n)
  const outdated = new Set(keys).difference(new Set(files.map(({ id }) => id)))
  if (outdated.size > 0) await write((store) => outdated.forEach((key) => store.delete(key)))
  return files
}

/** Deletes what is stored of a person's files. */
export function deleteUnsentFiles(userId: string): void {
  void enqueue(async () => {
    if (!(await databaseExists(UNSENT_FILES_DATABASE))) return
    const { keys } = await readOf(userId)
    await write((store) => keys.forEach((key) => store.delete(key)))
  })
}
