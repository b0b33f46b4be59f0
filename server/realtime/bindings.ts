import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import type { Filter } from '#server/database/filter.ts'
import { parseFilters } from '#server/database/filter.ts'
import { matchesRow } from '#server/database/match-row.ts'
import type { ApiRole } from '#server/database/scope.ts'
import { type Work, WorkExceeded } from '#server/database/work.ts'
import type { Catalogue, PublishedTable } from './catalogue.ts'
import type { Binding, ChangeOperation } from './channels.ts'
import { Rejection } from './rejection.ts'

export const UNSUBSCRIBABLE = 'RealtimeDisabledForConfiguration'

/** Enough for `in` with 200 ids. */
const MAX_BINDING_CHARACTERS = 8_192

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
  startFilter: () => Work,
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
  const selectKey = select ? JSON.stringify([...select].sort()) : ''
  const selectLength = select ? [...select].join().length : 0
  if ((filter ?? '').length > MAX_BINDING_CHARACTERS || selectLength > MAX_BINDING_CHARACTERS) {
    throw invalidBinding(`the filter and the columns of a binding may have ${MAX_BINDING_CHARACTERS} characters each`)
  }
  const filters = parseBindingFilters(filter ?? '').sort(byWork)
  if (described) {
    for (const column of [...filters.map(({ column }) => column), ...(select ?? [])]) {
      if (!described.readable[role].has(column)) throw invalidBinding(`invalid column for filter ${column}`)
    }
    for (const condition of filters) rejectInvalid(() => matchesRow(condition, described.formats, {}, startFilter()))
  }
  return { event: event.data, schema, table, filters, filterText: filter ?? '', select, selectKey }
}

const PATTERNS: ReadonlySet<Filter['operator']> = new Set(['like', 'ilike', 'match', 'imatch'])
/** Comparisons come first: they decide most rows, with the least work. */
const byWork = (left: Filter, right: Filter): number =>
  Number(PATTERNS.has(left.operator)) - Number(PATTERNS.has(right.operator))

const invalidBinding = (text: string, cause?: unknown) => new Rejection(UNSUBSCRIBABLE, text, { cause })

function rejectInvalid<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof WorkExceeded) throw invalidBinding('the filters take too much work to check')
    if (error instanceof AppError)
      throw invalidBinding(`Unable to subscribe to changes with given parameters: ${error.message}`, error)
    throw error
  }
}

const parseBindingFilters = (text: string) => (text === '' ? [] : rejectInvalid(() => parseFilters(text)))

export const wantsOperation = ({ event }: Binding, operation: ChangeOperation): boolean =>
  event === '*' || event === operation

/** A missing column never matches. @throws WorkExceeded if the filters take more than `work` */
export function matchesBinding(
  { filters }: Pick<Binding, 'filters'>,
  { formats }: PublishedTable,
  row: Readonly<Record<string, unknown>>,
  work: Work,
): boolean {
  return filters.every((filter) => {
    if (!Object.hasOwn(row, filter.column)) return false
    try {
      return matchesRow(filter, formats, row, work)
    } catch (error) {
      // A schema-wide filter can meet a table whose column has another type.
      if (error instanceof AppError) return false
      throw error
    }
  })
}
