/** A store of IndexedDB whose rows belong to people; opened with its first use. */

const BY_PERSON = 'by person'
/** Some browsers with restricted storage answer neither with a database nor with an error. */
const OPENING_LIMIT_MS = 5000
/** A failed attempt to open the database answers for all that follow so soon. */
const FAILED_FOR_MS = 5000

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('The database of the browser failed')))
  })
}

async function openDatabase(database: string, store: string, onEnded: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(database, 1)
  request.addEventListener('upgradeneeded', () => {
    request.result.createObjectStore(store, { keyPath: 'id' }).createIndex(BY_PERSON, 'userId')
  })
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    limit.reject(new Error('The database of the browser does not answer'))
    request.addEventListener('success', () => request.result.close())
  }, OPENING_LIMIT_MS)
  try {
    const opened = await Promise.race([resultOf(request), limit.promise])
    // The browser evicts databases, and a person deletes them, while pages are open.
    opened.addEventListener('close', onEnded)
    opened.addEventListener('versionchange', () => {
      opened.close()
      onEnded()
    })
    return opened
  } finally {
    clearTimeout(timer)
  }
}

/** Rows have a text `id`, which is their key, and a `userId`. Its methods reject where the browser refuses or is full. */
interface RowStore {
  /** One transaction; resolves once it is on disk. */
  write: (act: (store: IDBObjectStore) => void) => Promise<void>
  /** The rows of a person and their keys, sorted by key; unvalidated. */
  readOf: (userId: string) => Promise<{ rows: unknown[]; keys: string[] }>
}

export function createRowStore(database: string, name: string): RowStore {
  let opened: Promise<IDBDatabase> | null = null

  function open(): Promise<IDBDatabase> {
    const forget = (): void => {
      if (opened === opening) opened = null
    }
    const opening = opened ?? openDatabase(database, name, forget)
    opened = opening
    opening.catch(() => setTimeout(forget, FAILED_FOR_MS))
    return opening
  }

  async function begin(mode: IDBTransactionMode): Promise<IDBTransaction> {
    const before = await open()
    try {
      return before.transaction(name, mode)
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'InvalidStateError')) throw error
      // The connection was closed, and its event has not arrived yet.
      opened = null
      return (await open()).transaction(name, mode)
    }
  }

  return {
    async write(act) {
      const transaction = await begin('readwrite')
      const ended = new Promise<void>((resolve, reject) => {
        transaction.addEventListener('complete', () => resolve())
        transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('Nothing was written')))
      })
      act(transaction.objectStore(name))
      await ended
    },
    async readOf(userId) {
      const ofPerson = (await begin('readonly')).objectStore(name).index(BY_PERSON)
      const [rows, keys] = await Promise.all([resultOf(ofPerson.getAll(userId)), resultOf(ofPerson.getAllKeys(userId))])
      return { rows, keys: keys.map(String) }
    },
  }
}
