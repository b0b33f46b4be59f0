/** Format `oid.attnum`. */
export type ColumnKey = string

export const columnKey = (relation: number, column: number): ColumnKey => `${relation}.${column}`

/** Tokens of `{QUERY … {TARGETENTRY …} …}`: a brace or the text between two. A backslash escapes a brace. */
const DEFINITION_TOKENS = /[{}]|(?:\\.|[^{}\\])+/gsu
// Brace depths; the outermost is `({QUERY …`.
const QUERY_DEPTH = 1
const ENTRY_DEPTH = 2

const readNumberField = (label: string, text: string): number =>
  Number(new RegExp(`:${label} (\\d+)`).exec(text)?.[1] ?? 0)

/** Returns the text of each entry of the outermost target list, without nested nodes. */
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

/** Maps the view's column numbers to the columns that it exposes unchanged. `definition` is `pg_rewrite.ev_action`. */
export function parseColumnOrigins(definition: string): ReadonlyMap<number, ColumnKey> {
  const origins = new Map<number, ColumnKey>()
  for (const entry of targetListEntries(definition)) {
    const [table, column] = [readNumberField('resorigtbl', entry), readNumberField('resorigcol', entry)]
    if (table !== 0 && column !== 0) origins.set(readNumberField('resno', entry), columnKey(table, column))
  }
  return origins
}

/** Follows origins through views of views; each chain starts with the nearest column. */
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
      for (
        let origin = nearest.get(column);
        origin !== undefined && !chain.includes(origin);
        origin = nearest.get(origin)
      )
        chain.push(origin)
      return [column, chain]
    }),
  )
}
