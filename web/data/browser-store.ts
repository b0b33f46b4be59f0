/** A store of IndexedDB whose rows belong to people; opened with its first use. */

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('The database of the browser failed')))
  })
}

const BY_PERSON = 'by person'

/** Rows have a text `id`, which is their key, and a `userId`. */
interface BrowserStore {
  /** One transaction; resolves once it is on disk. */
  write: (act: (store: IDBObjectStore) => void) => Promise<void>
  /** The rows of a person and their keys, sorted by key; unvalidated. */
  readOf: (userId: string) => Promise<{ rows: unknown[]; keys: string[] }>
}

export function createBrowserStore(database: string, name: string): BrowserStore {
  let opened: Promise<IDBDatabase> | null = null

  function open(): Promise<IDBDatabase> {
    if (opened !== null) return opened
    const request = indexedDB.open(database, 1)
    request.addEventListener('upgradeneeded', () => {
      request.result.createObjectStore(name, { keyPath: 'id' }).createIndex(BY_PERSON, 'userId')
    })
    opened = resultOf(request)
    opened.catch(() => (opened = null))
    return opened
  }

  return {
    async write(act) {
      const transaction = (await open()).transaction(name, 'readwrite')
      const ended = new Promise<void>((resolve, reject) => {
        transaction.addEventListener('complete', () => resolve())
        transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('Nothing was written')))
      })
      act(transaction.objectStore(name))
      await ended
    },
    async readOf(userId) {
      const ofPerson = (await open()).transaction(name).objectStore(name).index(BY_PERSON)
      const [rows, keys] = await Promise.all([resultOf(ofPerson.getAll(userId)), resultOf(ofPerson.getAllKeys(userId))])
      return { rows, keys: keys.map(String) }
    },
  }
}
