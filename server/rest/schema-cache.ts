/** Read on first use, and again after a `reload schema` notification. */
import type { Log } from '#server/base/log.ts'
import type { Listener } from '#server/database/listen.ts'
import type { Database } from '#server/database/scope.ts'
import type { Catalogue } from './catalogue.ts'
import { readCatalogue } from './read-catalogue.ts'

const MIN_REFRESH_INTERVAL_MS = 3_000

export interface SchemaCache {
  current(): Promise<Catalogue>
  /** For a name that the catalogue lacks; reads at most once per `MIN_REFRESH_INTERVAL_MS`. */
  refresh(): Promise<Catalogue>
  invalidate(): void
}

/** `listener` receives `notify pgrst, 'reload schema'`, which invalidates the cache. */
export function createSchemaCache({
  database,
  schemas = ['public'],
  listener,
  log,
}: {
  readonly database: Database
  readonly schemas?: readonly string[]
  readonly listener?: Listener | undefined
  readonly log?: Log | undefined
}): SchemaCache {
  let catalogue: Promise<Catalogue> | undefined
  let readAt = -Infinity
  let listening: Promise<unknown> | undefined

  const invalidate = () => {
    catalogue = undefined
  }

  /** Listens before the first read, so that no notification falls between the two. */
  function listen(): Promise<unknown> {
    listener?.onReconnect(invalidate)
    return Promise.resolve(
      listener?.on('pgrst', (payload) => {
        if (payload === 'reload schema' || payload === '') invalidate()
      }),
    ).catch((error: unknown) => {
      listening = undefined
      log?.warn({ err: error }, 'the schema cache cannot listen for schema changes yet')
    })
  }

  async function read(): Promise<Catalogue> {
    listening ??= listen()
    await listening
    return readCatalogue(database, schemas)
  }

  function current(): Promise<Catalogue> {
    if (catalogue) return catalogue
    readAt = performance.now()
    const pending = read()
    catalogue = pending
    pending.catch(() => {
      if (catalogue === pending) invalidate()
    })
    return pending
  }

  return {
    current,
    refresh() {
      if (performance.now() - readAt > MIN_REFRESH_INTERVAL_MS) invalidate()
      return current()
    },
    invalidate,
  }
}
