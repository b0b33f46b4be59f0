import type { AnswerBounds } from './answer-bounds.ts'
import type { Catalogue, Routine } from './catalogue.ts'
import { restError } from './errors.ts'
import {
  acceptsArguments,
  atMostOne,
  isCallable,
  routineNotFound,
  type RoutineSearch,
  takesWholeBody,
} from './find-routine.ts'
import { parseArguments, requireBounded } from './parse-payload.ts'
import type { RestRequest } from './parse-request.ts'
import { planResult, type RowSource, usedColumns } from './plan-select.ts'
import type { CallArguments, CallPlan } from './plan.ts'

const parametersOf = ({ parameters }: Routine, names: ReadonlySet<string>) =>
  parameters.filter(({ name }) => names.has(name))

const bodyArgument = ({ parameters }: Routine, text: string) =>
  ({ kind: 'body', type: parameters[0]?.type ?? 'json', text }) as const

function resolveCall(request: RestRequest, search: RoutineSearch): { routine: Routine; args: CallArguments } {
  const { method, query, body, contentType } = request
  const { candidates } = search
  if (method !== 'POST') {
    const names = new Set(query.args.map(([name]) => name))
    const routine = atMostOne(candidates.filter((candidate) => acceptsArguments(candidate, names)))
    if (!routine) throw routineNotFound(request, [...names], search)
    const values = parametersOf(routine, names).map((parameter) => {
      const texts = query.args.filter(([name]) => name === parameter.name).map(([, text]) => text)
      if (/^jsonb?\b/.test(parameter.type)) texts.forEach(requireBounded)
      return { parameter, texts: parameter.isVariadic ? texts : texts.slice(-1) }
    })
    return { routine, args: { kind: 'texts', values } }
  }

  const callWithWholeBody = () => {
    const routine = atMostOne(candidates.filter((candidate) => takesWholeBody(candidate, contentType)))
    return routine && { routine, args: bodyArgument(routine, body) }
  }
  if (contentType !== 'application/json') {
    const call = contentType === 'text/plain' ? callWithWholeBody() : undefined
    if (call) return call
    throw restError('PGRST102', `Content-Type not acceptable: ${contentType}`)
  }
  const parsed = parseArguments(body)
  const names = new Set(query.columns ?? parsed.keys)
  const routine = parsed.isArray
    ? undefined
    : atMostOne(candidates.filter((candidate) => acceptsArguments(candidate, names)))
  if (routine?.parameters[0]?.name === '') return { routine, args: bodyArgument(routine, parsed.text) }
  if (routine) {
    return {
      routine,
      args: { kind: 'json', parameters: parametersOf(routine, names), text: parsed.text, isArray: false },
    }
  }
  const call = callWithWholeBody()
  if (call) return { ...call, args: { ...call.args, text: parsed.text } }
  throw routineNotFound(request, [...names], search)
}

const computedColumnsOf = (catalogue: Catalogue, { returnedTable }: Routine) =>
  returnedTable ? catalogue.relation(returnedTable.schema, returnedTable.name)?.computed : undefined

const routineSource = (catalogue: Catalogue, routine: Routine): RowSource => ({
  name: routine.name,
  schema: routine.schema,
  width: Math.max(1, routine.columns.size),
  typeOf: (column) =>
    routine.returns === 'row'
      ? (routine.columns.get(column) ?? computedColumnsOf(catalogue, routine)?.get(column))
      : undefined,
  relationships: routine.returnedTable
    ? catalogue.relationships(routine.returnedTable.schema, routine.returnedTable.name)
    : [],
})

/** @throws RestError PGRST202 for an unknown function, PGRST203 for an ambiguous one. */
export function planCall(catalogue: Catalogue, request: RestRequest, bounds: AnswerBounds): CallPlan {
  const { schema, resource, preferences, media } = request
  const { routine, args } = resolveCall(request, {
    callableNames: () =>
      catalogue.routineNames(schema).filter((name) => catalogue.routines(schema, name).some(isCallable)),
    candidates: catalogue.routines(schema, resource.name).filter(isCallable),
  })
  if (preferences.maxAffected !== undefined && preferences.handling === 'strict' && !routine.returnsSet) {
    throw restError(
      'PGRST128',
      'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
    )
  }
  const result = planResult(catalogue, routineSource(catalogue, routine), request, bounds)
  const computed = [...(computedColumnsOf(catalogue, routine)?.keys() ?? [])].filter((name) =>
    usedColumns(result).has(name),
  )
  return { kind: 'call', routine, args, media, computed, ...result }
}

/** GET never writes; POST writes only if the function is volatile. */
export const isReadOnlyCall = ({ method }: RestRequest, { routine }: CallPlan): boolean =>
  method !== 'POST' || !routine.isVolatile
