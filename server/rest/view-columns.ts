/** Which columns of a view are columns of a table or of another view, read from its definition as PostgreSQL keeps it. */

/** A column of a relation, by its number: `oid.attnum`. */
export type ColumnKey = string

export const columnKey = (relation: number, column: number): ColumnKey => `${relation}.${column}`

/** `{QUERY … {TARGETENTRY …} …}` as pieces: a brace, or the text between two of them. A backslash escapes a brace. */
const DEFINITION_TOKENS = /[{}]|(?:\\.|[^{}\\])+/gsu
// Outermost: ({QUERY ….
const QUERY_DEPTH = 1
const ENTRY_DEPTH = 2

const readNumberField = (label: string, text: string): number => Number(new RegExp(`:${label} (\\d+)`).exec(text)?.[1] ?? 0)

/** The text of each entry of the outermost target list, without what is nested in it. */
function targetListEntries(definition: string): string[] {
  const entries: string[] = []
  let depth = 0
  let isInList = false
  for (const piece of definition.match(DEFINITION_TOKENS) ?? []) {
    if (piece === '{') depth += 1
    else if (piece === '}') depth -= 1
    else if (depth === QUERY_DEPTH) {
      if (piece.includes(':')) isInList = /:targetList \($/.test(piece)
    } else if (depth === ENTRY_DEPTH && isInList) {
      if (piece.startsWith('TARGETENTRY')) entries.push(piece)
      else entries.push((entries.pop() ?? '') + piece)
    }
  }
  return entries
}

/**
 * Number of each column of the view with what it comes from unchanged.
 * @param definition the rule of the view, as `pg_rewrite.ev_action` holds it.
 */
export function parseColumnOrigins(definition: string): ReadonlyMap<number, ColumnKey> {
  const origins = new Map<number, ColumnKey>()
  for (const entry of targetListEntries(definition)) {
    const [table, column] = [readNumberField('resorigtbl', entry), readNumberField('resorigcol', entry)]
    if (table !== 0 && column !== 0) origins.set(readNumberField('resno', entry), columnKey(table, column))
  }
  return origins
}

/** The same through views of views: each column with every one that it comes from, the nearest first. */
export function resolveOriginChains(
  views: ReadonlyMap<number, ReadonlyMap<number, ColumnKey>>,
): ReadonlyMap<ColumnKey, readonly ColumnKey[]> {
  const nearest = new Map(
    [...views].flatMap(([view, columns]) =>
      [...columns].map(([number, origin]) => [columnKey(view, number), origin] as const),
    ),
  )
  return new Map(
    [...nearest.keys()].map((column) => {
      const chain: ColumnKey[] = []
      for (let at = nearest.get(column); at !== undefined && !chain.includes(at); at = nearest.get(at)) chain.push(at)
      return [column, chain]
    }),
  )
}
