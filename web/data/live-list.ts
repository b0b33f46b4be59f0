import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

type ListChange<Row> = (list: Row[]) => Row[]

/** Lists of rows that are read as a whole and changed by live changes in between. */
export interface LiveList<Row> {
  /** To be called by the query of the list, with what reads it. */
  read(key: QueryKey, read: () => Promise<Row[]>): Promise<Row[]>
  /** Changes the list where it is loaded, and again what is being read now: that may be older than the change, which nobody tells again. */
  change(queryClient: QueryClient, key: QueryKey, change: ListChange<Row>): void
}

export function createLiveList<Row>(): LiveList<Row> {
  /** Each reading that is under way, with the changes since it began. */
  const readings = new Set<{ readonly list: string; readonly changes: ListChange<Row>[] }>()
  return {
    async read(key, read) {
      const reading = { list: hashKey(key), changes: [] as ListChange<Row>[] }
      readings.add(reading)
      try {
        const list = await read()
        return reading.changes.reduce((changed, change) => change(changed), list)
      } finally {
        readings.delete(reading)
      }
    },
    change(queryClient, key, change) {
      for (const { list, changes } of readings) if (list === hashKey(key)) changes.push(change)
      queryClient.setQueryData<Row[]>(key, (list) => list && change(list))
    },
  }
}
