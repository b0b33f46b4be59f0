import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { matchesRow, parseFilters } from '#server/database/filter.ts'
import type { ApiRole } from '#server/database/scope.ts'
import type { Catalogue, PublishedTable } from './catalogue.ts'
import type { Binding, ChangeOperation } from './channels.ts'
import { Rejection } from './rejection.ts'

export const UNSUBSCRIBABLE = 'RealtimeDisabledForConfiguration'

/** Loose, because the reply echoes all values that the client sent. */
export const requestedBindingSchema = z.looseObject({
  event: z.string(),
  schema: z.string().default('public'),
  table: z.string().nullish(),
  filter: z.string().nullish(),
  select: z
    .union([z.array(z.string()), z.string().transform((list) => list.split(',').map((name) => name.trim()))])
    .nullish(),
})
type RequestedBinding = z.output<typeof requestedBindingSchema>

const eventSchema = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(['*', 'INSERT', 'UPDATE', 'DELETE']))

/** @throws Rejection for an unknown event, an unpublished table, an unreadable column or an invalid filter. */
export async function checkBinding(
  catalogue: Catalogue,
  requested: RequestedBinding,
  role: ApiRole,
): Promise<Omit<Binding, 'id' | 'channel'>> {
  const { schema, filter } = requested
  const table =
    requested.table == null || requested.table === '' || requested.table === '*' ? undefined : requested.table
  const event = eventSchema.safeParse(requested.event)
  const described = table === undefined ? undefined : await catalogue.table(schema, table)
  const isPublished = table === undefined ? (await catalogue.tablesOf(schema)).length > 0 : described !== undefined
  if (!event.success || !isPublished) {
    throw new Rejection(
      UNSUBSCRIBABLE,
      'Unable to subscribe to changes with given parameters. Please check Realtime is enabled for the given connect ' +
        `parameters: [event: ${requested.event}, schema: ${schema}, table: ${table ?? '*'}, filters: [${filter ?? ''}]]`,
    )
  }
  const select = requested.select == null ? undefined : new Set(requested.select)
  const filters = parseBindingFilters(filter ?? '')
  if (described) {
    for (const column of [...filters.map(({ column }) => column), ...(select ?? [])]) {
      if (!described.readable[role].has(column)) throw invalidBinding(`invalid column for filter ${column}`)
    }
    for (const condition of filters) rejectInvalid(() => matchesRow(condition, described.formats, {}))
  }
  return { event: event.data, schema, table, filters, filterText: filter ?? '', select }
}

const invalidBinding = (text: string, cause?: unknown) => new Rejection(UNSUBSCRIBABLE, text, { cause })

function rejectInvalid<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof AppError)
      throw invalidBinding(`Unable to subscribe to changes with given parameters: ${error.message}`, error)
    throw error
  }
}

const parseBindingFilters = (text: string) => (text === '' ? [] : rejectInvalid(() => parseFilters(text)))

export const wantsOperation = ({ event }: Binding, operation: ChangeOperation): boolean =>
  event === '*' || event === operation

/** A missing column never matches. */
export function matchesBinding(
  { filters }: Binding,
  { formats }: PublishedTable,
  row: Readonly<Record<string, unknown>>,
): boolean {
  return filters.every((filter) => {
    if (!Object.hasOwn(row, filter.column)) return false
    try {
      return matchesRow(filter, formats, row)
    } catch (error) {
      // A schema-wide filter can meet a table whose column has another type.
      if (error instanceof AppError) return false
      throw error
    }
  })
}
