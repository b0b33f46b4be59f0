/** PostgreSQL replans a prepared statement when roles, policies or tables change. */
import { createHash } from 'node:crypto'
import type pg from 'pg'

declare module 'pg' {
  interface Connection {
    /** Texts by name, of the statements that this connection keeps. */
    readonly parsedStatements: Record<string, string>
  }
  interface ClientBase {
    readonly connection: Connection
  }
}

/** Alcove's own statements are constants, fewer than these. */
const MAX_OWN_NAMES = 300
/** Texts of requests that are counted, the latest used ones. */
const MAX_COUNTED = 2_000
/** Uses after which a statement of requests is kept. */
const MIN_USES = 3
/** Longer statements of requests are never kept, so that they fill no memory here and in PostgreSQL. */
const MAX_REQUEST_CHARACTERS = 8_192
/** Statements of requests that one connection keeps, the latest used ones. */
const MAX_REQUEST_NAMES = 100

const hashOf = (text: string): string => createHash('sha1').update(text).digest('base64url')

const ownNames = new Map<string, string>()
const requestUses = new Map<string, number>()
const requestNames = new WeakMap<pg.ClientBase, Set<string>>()

function ownStatementName(text: string): string | undefined {
  const known = ownNames.get(text)
  if (known !== undefined || ownNames.size >= MAX_OWN_NAMES) return known
  const name = hashOf(text)
  ownNames.set(text, name)
  return name
}

/** Each use moves a name to the end, so the first is the one used longest ago. */
function deleteFirstAbove(limit: number, used: Map<string, unknown> | Set<string>): string | undefined {
  const [first] = used.keys()
  if (used.size <= limit || first === undefined) return undefined
  used.delete(first)
  return first
}

/** Kept by name from its third use on. The name is the hash, so that no text is held for counting it. */
function requestStatementName(text: string): string | undefined {
  if (text.length > MAX_REQUEST_CHARACTERS) return undefined
  const name = hashOf(text)
  const uses = (requestUses.get(name) ?? 0) + 1
  requestUses.delete(name)
  requestUses.set(name, uses)
  deleteFirstAbove(MAX_COUNTED, requestUses)
  return uses < MIN_USES ? undefined : name
}

/** Ends the statement of the connection that was used longest ago, where there are too many. */
function keepLatest(client: pg.ClientBase, name: string): void {
  const names = requestNames.get(client) ?? new Set<string>()
  requestNames.set(client, names)
  names.delete(name)
  names.add(name)
  const ended = deleteFirstAbove(MAX_REQUEST_NAMES, names)
  if (ended === undefined) return
  Reflect.deleteProperty(client.connection.parsedStatements, ended)
  // Goes out before the next statement. PostgreSQL accepts it in an aborted transaction, and for an unknown name.
  client.connection.close({ type: 'S', name: ended }, true)
}

const named = (name: string | undefined, text: string, values: readonly unknown[]): pg.QueryConfig => ({
  text,
  values: [...values],
  ...(name === undefined ? {} : { name }),
})

export const prepared = (text: string, values: readonly unknown[] = []): pg.QueryConfig =>
  named(ownStatementName(text), text, values)

/** To be sent on this connection next. */
export function preparedOnRepeat(client: pg.ClientBase, text: string, values: readonly unknown[] = []): pg.QueryConfig {
  const name = requestStatementName(text)
  if (name !== undefined) keepLatest(client, name)
  return named(name, text, values)
}
