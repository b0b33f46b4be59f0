import { hashKey, type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'

/** The rows of a list that are loaded: every row that comes before the last of them, and no row after it. */
export interface LoadedRows<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
}

/** One order and selection of the rows; it is a part of its query key. */
export interface ListView<Row> {
  /** Total: equal only for one row. */
  readonly compare: (one: Row, other: Row) => number
  readonly includes: (row: Row) => boolean
  /** Reads at most `limit` rows after `last`, from the beginning without it. */
  readonly read: (last: Row | undefined, limit: number, signal?: AbortSignal) => Promise<readonly Row[]>
}

/** A list that is read in pages and updated by live changes in between. */
export interface PagedList<Row, View> {
  /** Reads the first page, or again as many rows as are loaded. */
  query(view: View): PagedQuery<Row>
  /** Reads the next page; of calls at the same time only the first one does. */
  readMore(queryClient: QueryClient, view: View): Promise<void>
  /** Moves a row to where it belongs in every loaded view. Views without the row take it up unless `ifLoaded`. */
  put(queryClient: QueryClient, row: Row, options?: { readonly ifLoaded?: boolean }): void
  /** As `put`, but a loaded row stays as it is. */
  add(queryClient: QueryClient, row: Row): void
  change(queryClient: QueryClient, id: string, change: (row: Row) => Row): void
  remove(queryClient: QueryClient, id: string): void
}

type PagedQuery<Row> = ReturnType<typeof pagedQuery<Row>>

const pagedQuery = <Row>(
  queryKey: QueryKey,
  read: (client: QueryClient, signal: AbortSignal) => Promise<LoadedRows<Row>>,
) =>
  queryOptions({
    queryKey,
    queryFn: ({ client, signal }) => read(client, signal),
    // Rows keep their identity already; a comparison of all of them would cost more than the change.
    structuralSharing: false,
  })

type Change<Row> = (loaded: LoadedRows<Row>, view: ListView<Row>) => LoadedRows<Row>

interface PagedListOptions<Row, View> {
  readonly pageSize: number
  /** Rows of each further page. */
  readonly nextPageSize: number
  /** Rows in one request of a second read. */
  readonly maxPageSize: number
  /** The beginning of the key of every view. */
  readonly prefix: QueryKey
  readonly describe: (view: View, queryClient: QueryClient) => ListView<Row>
}

export function createPagedList<Row extends { readonly id: string }, View>({
  pageSize,
  nextPageSize,
  maxPageSize,
  prefix,
  describe,
}: PagedListOptions<Row, View>): PagedList<Row, View> {
  const reads = new Set<{ readonly query: string; readonly changes: Change<Row>[] }>()
  const key = (view: View): QueryKey => [...prefix, view]

  /** A read may be older than the changes that arrive meanwhile, and no later event repeats them. */
  async function withChanges(
    queryClient: QueryClient,
    view: View,
    read: (description: ListView<Row>) => Promise<() => LoadedRows<Row>>,
  ): Promise<LoadedRows<Row>> {
    const reading = { query: hashKey(key(view)), changes: [] as Change<Row>[] }
    const description = describe(view, queryClient)
    reads.add(reading)
    try {
      const collect = await read(description)
      return reading.changes.reduce((loaded, change) => change(loaded, description), collect())
    } finally {
      reads.delete(reading)
    }
  }

  function apply(queryClient: QueryClient, change: Change<Row>): void {
    for (const { changes } of reads) changes.push(change)
    for (const query of queryClient.getQueryCache().findAll({ queryKey: prefix })) {
      const view = query.queryKey[prefix.length] as View
      queryClient.setQueryData<LoadedRows<Row>>(
        query.queryKey,
        (loaded) => loaded && change(loaded, describe(view, queryClient)),
      )
    }
  }

  const read = (queryClient: QueryClient, view: View, signal: AbortSignal): Promise<LoadedRows<Row>> =>
    withChanges(queryClient, view, async (description) => {
      const wanted = Math.max(pageSize, queryClient.getQueryData<LoadedRows<Row>>(key(view))?.rows.length ?? 0)
      const rows: Row[] = []
      for (;;) {
        const limit = Math.min(wanted - rows.length, maxPageSize)
        const page = await description.read(rows.at(-1), limit, signal)
        rows.push(...page)
        const isOver = page.length < limit
        if (isOver || rows.length >= wanted) return () => ({ rows, hasMore: !isOver })
      }
    })

  async function readNext(queryClient: QueryClient, view: View, loaded: LoadedRows<Row>): Promise<void> {
    const last = loaded.rows.at(-1)
    const next = await withChanges(queryClient, view, async (description) => {
      const page = await description.read(last, nextPageSize)
      return () => {
        const now = queryClient.getQueryData<LoadedRows<Row>>(key(view)) ?? loaded
        // Without the row that the page follows, there may be a gap before it.
        const follows = last === undefined || now.rows.some(({ id }) => id === last.id)
        return follows ? { rows: appendMissing(now.rows, page), hasMore: page.length === nextPageSize } : now
      }
    })
    queryClient.setQueryData<LoadedRows<Row>>(key(view), next)
  }

  const readsOfNext = new Map<string, Promise<void>>()

  return {
    query: (view) => pagedQuery(key(view), (client, signal) => read(client, view, signal)),
    async readMore(queryClient, view) {
      const query = hashKey(key(view))
      const loaded = queryClient.getQueryData<LoadedRows<Row>>(key(view))
      if (loaded?.hasMore !== true) return
      const reading =
        readsOfNext.get(query) ?? readNext(queryClient, view, loaded).finally(() => readsOfNext.delete(query))
      readsOfNext.set(query, reading)
      await reading
    },
    put: (queryClient, row, { ifLoaded = false } = {}) =>
      apply(queryClient, (loaded, view) =>
        ifLoaded && !loaded.rows.some(({ id }) => id === row.id) ? loaded : place(loaded, row, view),
      ),
    add: (queryClient, row) =>
      apply(queryClient, (loaded, view) =>
        loaded.rows.some(({ id }) => id === row.id) ? loaded : place(loaded, row, view),
      ),
    change: (queryClient, id, changeRow) =>
      apply(queryClient, (loaded, view) => {
        const known = loaded.rows.find((row) => row.id === id)
        return known === undefined ? loaded : place(loaded, changeRow(known), view)
      }),
    remove: (queryClient, id) =>
      apply(queryClient, (loaded) =>
        loaded.rows.some((row) => row.id === id)
          ? { ...loaded, rows: loaded.rows.filter((row) => row.id !== id) }
          : loaded,
      ),
  }
}

function appendMissing<Row extends { readonly id: string }>(rows: readonly Row[], page: readonly Row[]): Row[] {
  const known = new Set(rows.map(({ id }) => id))
  return [...rows, ...page.filter(({ id }) => !known.has(id))]
}

/** A row beyond the loaded ones is left out: reading further brings it. */
function place<Row extends { readonly id: string }>(
  { rows, hasMore }: LoadedRows<Row>,
  row: Row,
  { compare, includes }: ListView<Row>,
): LoadedRows<Row> {
  const others = rows.filter(({ id }) => id !== row.id)
  if (!includes(row)) return { rows: others, hasMore }
  const index = others.findIndex((other) => compare(row, other) < 0)
  if (index >= 0) return { rows: others.toSpliced(index, 0, row), hasMore }
  return { rows: hasMore ? others : [...others, row], hasMore }
}
