/** Finds the function that a call means: by name and by the names of its arguments. */
import { restError } from './errors.ts'
import { parseArguments } from './parse-payload.ts'
import { nearestName } from './nearest-name.ts'
import { usedColumns, type ResultPlan, planResult, type RowSource } from './plan-select.ts'
import { type Media, type RestRequest } from './parse-request.ts'
import { type Catalogue, type Parameter, type Routine } from './schema-cache.ts'

type CallArguments =
  /** By GET: text for each parameter; a variadic one takes every value given. */
  | {
      readonly kind: 'texts'
      readonly values: readonly { readonly parameter: Parameter; readonly texts: readonly string[] }[]
    }
  | {
      readonly kind: 'json'
      readonly parameters: readonly Parameter[]
      readonly text: string
      readonly isArray: boolean
    }
  /** The whole body for the one parameter, which has no name. */
  | { readonly kind: 'body'; readonly type: string; readonly text: string }

export interface CallPlan extends ResultPlan {
  readonly kind: 'call'
  readonly routine: Routine
  readonly media: Media
  readonly args: CallArguments
  /** Functions of the returned rows that are read like columns. */
  readonly computed: readonly string[]
}

/** Name of the one column of a function that returns no rows. */
export const SCALAR = 'pgrst_scalar'

/** Whether these argument names, neither more nor less, can be given to the function. */
function acceptsArguments({ parameters }: Routine, names: ReadonlySet<string>): boolean {
  const known = new Set(parameters.map(({ name }) => name))
  return (
    [...names].every((name) => known.has(name)) &&
    parameters.every(({ name, isRequired }) => !isRequired || names.has(name))
  )
}

/** Types of the one parameter without a name that a function may have to be called from outside. */
const UNNAMED_TYPES: ReadonlySet<string> = new Set(['json', 'jsonb', 'text', 'bytea', 'xml'])

function isCallable({ parameters }: Routine): boolean {
  const unnamed = parameters.filter(({ name }) => name === '')
  return unnamed.length === 0 || (parameters.length === 1 && UNNAMED_TYPES.has(unnamed[0]?.type ?? ''))
}

const WHOLE_BODY_TYPES: Readonly<Record<string, readonly string[]>> = {
  'application/json': ['json', 'jsonb'],
  'text/plain': ['text'],
}

function takesWholeBody({ parameters }: Routine, contentType: string): boolean {
  const [only, ...others] = parameters
  return only?.name === '' && others.length === 0 && (WHOLE_BODY_TYPES[contentType] ?? []).includes(only.type)
}

interface RoutineSearch {
  /** Names of all functions of the schema that can be called from outside. */
  readonly callableNames: () => readonly string[]
  /** Those of the name that was called. */
  readonly candidates: readonly Routine[]
}

/** The function that is most like what was called: by its parameters where the name is right, else by its name. */
function suggestRoutine({ schema, resource }: RestRequest, names: readonly string[], { callableNames: known, candidates }: RoutineSearch) {
  const listed = (parameters: readonly string[]) => `(${parameters.join(', ')})`
  const called = listed(names)
  // With a parameter that has no name, a function of the very list that was given may not have been meant.
  const lists = candidates.map(({ parameters }) => listed(parameters.map(({ name }) => name)))
  const list = nearestName(
    called,
    lists.filter((other) => other !== called),
  )
  const nearest =
    candidates.length === 0
      ? nearestName(resource.name, known())
      : list === undefined
        ? undefined
        : resource.name + list
  return nearest === undefined ? null : `Perhaps you meant to call the function ${schema}.${nearest}`
}

function routineNotFound(request: RestRequest, names: readonly string[], searched: RoutineSearch) {
  const { schema, resource, method } = request
  const called = `${schema}.${resource.name}`
  const list = names.join(', ')
  const asBody = method === 'POST' ? ' or with a single unnamed json/jsonb parameter' : ''
  return restError(
    'PGRST202',
    `Could not find the function ${called}${names.length > 0 ? `(${list})` : ' without parameters'} in the schema cache`,
    {
      details: `Searched for the function ${called} ${
        names.length > 0 ? `with parameter${names.length > 1 ? 's' : ''} ${list}` : 'without parameters'
      }${asBody}, but no matches were found in the schema cache.`,
      hint: suggestRoutine(request, names, searched),
    },
  )
}

function ambiguousRoutine(found: readonly Routine[]) {
  const shown = found
    .map(({ schema, name, parameters }) => ({
      called: `${schema}.${name}`,
      list: parameters.map((parameter) => `${parameter.name} => ${parameter.type}`).join(', '),
    }))
    .toSorted((a, b) => (a.list < b.list ? -1 : 1))
    .map(({ called, list }) => `${called}(${list})`)
  return restError('PGRST203', `Could not choose the best candidate function between: ${shown.join(', ')}`, {
    hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  })
}

function atMostOne(found: readonly Routine[]): Routine | undefined {
  if (found.length > 1) throw ambiguousRoutine(found)
  return found[0]
}

const parametersOf = ({ parameters }: Routine, names: ReadonlySet<string>) =>
  parameters.filter(({ name }) => names.has(name))

const bodyArgument = ({ parameters }: Routine, text: string) =>
  ({ kind: 'body', type: parameters[0]?.type ?? 'json', text }) as const

function resolveCall(request: RestRequest, searched: RoutineSearch): { routine: Routine; args: CallArguments } {
  const { method, query, body, contentType } = request
  const { candidates } = searched
  if (method !== 'POST') {
    const names = new Set(query.args.map(([name]) => name))
    const routine = atMostOne(candidates.filter((found) => acceptsArguments(found, names)))
    if (!routine) throw routineNotFound(request, [...names], searched)
    const values = parametersOf(routine, names).map((parameter) => {
      const texts = query.args.filter(([name]) => name === parameter.name).map(([, text]) => text)
      return { parameter, texts: parameter.isVariadic ? texts : texts.slice(-1) }
    })
    return { routine, args: { kind: 'texts', values } }
  }

  const wholeBody = () => {
    const routine = atMostOne(candidates.filter((found) => takesWholeBody(found, contentType)))
    return routine && { routine, args: bodyArgument(routine, body) }
  }
  if (contentType !== 'application/json') {
    const taken = contentType === 'text/plain' ? wholeBody() : undefined
    if (taken) return taken
    throw restError('PGRST102', `Content-Type not acceptable: ${contentType}`)
  }
  const given = parseArguments(body)
  const names = new Set(query.columns ?? given.keys)
  const routine = given.isArray ? undefined : atMostOne(candidates.filter((found) => acceptsArguments(found, names)))
  if (routine?.parameters[0]?.name === '') return { routine, args: bodyArgument(routine, given.text) }
  if (routine) {
    return {
      routine,
      args: { kind: 'json', parameters: parametersOf(routine, names), text: given.text, isArray: false },
    }
  }
  const taken = wholeBody()
  if (taken) return { ...taken, args: { ...taken.args, text: given.text } }
  throw routineNotFound(request, [...names], searched)
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

/** The plan for a call; whether it may write is up to the function's volatility and the method. */
export function planCall(catalogue: Catalogue, request: RestRequest, maxRows: number | undefined): CallPlan {
  const { schema, resource, preferences, media } = request
  const { routine, args } = resolveCall(request, {
    callableNames: () => catalogue.routineNames(schema).filter((name) => catalogue.routines(schema, name).some(isCallable)),
    candidates: catalogue.routines(schema, resource.name).filter(isCallable),
  })
  if (preferences.maxAffected !== undefined && preferences.handling === 'strict' && !routine.returnsSet) {
    throw restError(
      'PGRST128',
      'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
    )
  }
  const reading = planResult(catalogue, routineSource(catalogue, routine), request, maxRows)
  const computed = [...(computedColumnsOf(catalogue, routine)?.keys() ?? [])].filter((name) => usedColumns(reading).has(name))
  return { kind: 'call', routine, args, media, computed, ...reading }
}

/** GET never writes; POST only where the function says that it may. */
export const isReadOnlyCall = ({ method }: RestRequest, { routine }: CallPlan): boolean =>
  method !== 'POST' || !routine.isVolatile
