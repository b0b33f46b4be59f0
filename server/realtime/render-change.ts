import type { Change } from './outbox.ts'
import { MAX_ROW_BYTES } from './rows.ts'
import type { View } from './views.ts'

const MAX_VALUE_BYTES_OF_LARGE_ROW = 64

/** `columns` are the readable ones; `select` undefined means all. */
export function renderChange(
  change: Change,
  columns: readonly { name: string; type: string }[],
  view: View,
  select: ReadonlySet<string> | undefined,
): string {
  const isTooLarge = view.isCut === true || (view.record?.length ?? 0) + (view.old?.length ?? 0) > MAX_ROW_BYTES
  const shorten = (json: string) => (select || isTooLarge ? filterFields(json, select, isTooLarge) : json)
  const errors = isTooLarge ? ['Error 413: Payload Too Large'] : view.error === undefined ? null : [view.error]
  const fields = [
    `"schema":${JSON.stringify(change.schema)}`,
    `"table":${JSON.stringify(change.table)}`,
    `"type":"${change.operation}"`,
    `"commit_timestamp":"${new Date(change.changedAt).toISOString()}"`,
    `"columns":${JSON.stringify(columns.map(({ name, type }) => ({ name, type })))}`,
    ...(change.operation === 'DELETE' ? [] : [`"record":${shorten(view.record ?? '{}')}`]),
    ...(change.operation === 'INSERT' ? [] : [`"old_record":${shorten(view.old ?? '{}')}`]),
    `"errors":${JSON.stringify(errors)}`,
  ]
  return `{${fields.join(',')}}`
}

function filterFields(json: string, select: ReadonlySet<string> | undefined, isTooLarge: boolean): string {
  const parsed: unknown = JSON.parse(json)
  const entries = Object.entries(parsed ?? {}).filter(
    ([name, value]) =>
      (select?.has(name) ?? true) && (!isTooLarge || JSON.stringify(value).length <= MAX_VALUE_BYTES_OF_LARGE_ROW),
  )
  return JSON.stringify(Object.fromEntries(entries))
}
