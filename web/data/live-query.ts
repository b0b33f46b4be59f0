import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

type Change<Data> = (data: Data) => Data

/** What is read as a whole and changed by live changes in between. */
export interface LiveQuery<Data> {
  /** To be called by the query of the key, with what reads it. */
  read(key: QueryKey, read: () => Promise<Data>): Promise<Data>
  /** Changes the data where it is loaded, and again what is being read now: that may be older than the change, which nobody tells again. */
  change(queryClient: QueryClient, key: QueryKey, change: Change<Data>): void
  /** The same for all of the data, also where it is not loaded. */
  set(queryClient: QueryClient, key: QueryKey, data: Data): void
}

export function createLiveQuery<Data>(): LiveQuery<Data> {
  /** Each reading that is under way, with the changes since it began. */
  const fetches = new Set<{ readonly query: string; readonly changes: Change<Data>[] }>()

  function recordChange(key: QueryKey, change: Change<Data>): void {
    for (const { query, changes } of fetches) if (query === hashKey(key)) changes.push(change)
  }

  return {
    async read(key, read) {
      const reading = { query: hashKey(key), changes: [] as Change<Data>[] }
      fetches.add(reading)
      try {
        let data: Data = await read()
        for (const change of reading.changes) data = change(data)
        return data
      } finally {
        fetches.delete(reading)
      }
    },
    change(queryClient, key, change) {
      recordChange(key, change)
      queryClient.setQueryData<Data>(key, (data) => (data === undefined ? data : change(data)))
    },
    set(queryClient, key, data) {
      recordChange(key, () => data)
      queryClient.setQueryData<Data>(key, () => data)
    },
  }
}
