import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

type Change<Data> = (data: Data) => Data

/** Cached data that is fetched as a whole and updated by live changes in between. */
export interface LiveQuery<Data> {
  read(key: QueryKey, read: () => Promise<Data>): Promise<Data>
  /** Also changes the results of fetches in progress: they may be older, and no later event repeats the change. */
  change(queryClient: QueryClient, key: QueryKey, change: Change<Data>): void
  /** Replaces the data, also if it is not loaded yet. */
  set(queryClient: QueryClient, key: QueryKey, data: Data): void
}

export function createLiveQuery<Data>(): LiveQuery<Data> {
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
