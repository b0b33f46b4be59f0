/** As PostgREST does, matches a call by its name and the names of its arguments. */
import type { Routine } from './catalogue.ts'
import { restError } from './errors.ts'
import { nearestName } from './nearest-name.ts'
import type { RestRequest } from './parse-request.ts'

export function acceptsArguments({ parameters }: Routine, names: ReadonlySet<string>): boolean {
  const known = new Set(parameters.map(({ name }) => name))
  return (
    [...names].every((name) => known.has(name)) &&
    parameters.every(({ name, isRequired }) => !isRequired || names.has(name))
  )
}

/** A callable function with a single unnamed parameter has one of these types. */
const UNNAMED_TYPES: ReadonlySet<string> = new Set(['json', 'jsonb', 'text', 'bytea', 'xml'])

export function isCallable({ parameters }: Routine): boolean {
  const unnamed = parameters.filter(({ name }) => name === '')
  return unnamed.length === 0 || (parameters.length === 1 && UNNAMED_TYPES.has(unnamed[0]?.type ?? ''))
}

const WHOLE_BODY_TYPES: Readonly<Record<string, readonly string[]>> = {
  'application/json': ['json', 'jsonb'],
  'text/plain': ['text'],
}

export function takesWholeBody({ parameters }: Routine, contentType: string): boolean {
  const [only, ...others] = parameters
  return only?.name === '' && others.length === 0 && (WHOLE_BODY_TYPES[contentType] ?? []).includes(only.type)
}

export interface RoutineSearch {
  readonly callableNames: () => readonly string[]
  /** Overloads of the requested name. */
  readonly candidates: readonly Routine[]
}

const listNames = (names: readonly string[]) => `(${names.join(', ')})`

function nearestOverload(resource: string, names: readonly string[], candidates: readonly Routine[]) {
  const requested = listNames(names)
  const lists = candidates.map(({ parameters }) => listNames(parameters.map(({ name }) => name)))
  // A function with an unnamed parameter can have the exact list without matching.
  const nearest = nearestName(
    requested,
    lists.filter((list) => list !== requested),
  )
  return nearest === undefined ? undefined : resource + nearest
}

function suggestRoutine(
  { schema, resource }: RestRequest,
  names: readonly string[],
  { callableNames, candidates }: RoutineSearch,
) {
  const nearest =
    candidates.length === 0
      ? nearestName(resource.name, callableNames())
      : nearestOverload(resource.name, names, candidates)
  return nearest === undefined ? null : `Perhaps you meant to call the function ${schema}.${nearest}`
}

export function routineNotFound(request: RestRequest, names: readonly string[], search: RoutineSearch) {
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
      hint: suggestRoutine(request, names, search),
    },
  )
}

function ambiguousRoutine(routines: readonly Routine[]) {
  const signatures = routines
    .map(({ schema, name, parameters }) => ({
      called: `${schema}.${name}`,
      list: parameters.map((parameter) => `${parameter.name} => ${parameter.type}`).join(', '),
    }))
    .toSorted((a, b) => (a.list < b.list ? -1 : 1))
    .map(({ called, list }) => `${called}(${list})`)
  return restError('PGRST203', `Could not choose the best candidate function between: ${signatures.join(', ')}`, {
    hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  })
}

export function atMostOne(routines: readonly Routine[]): Routine | undefined {
  if (routines.length > 1) throw ambiguousRoutine(routines)
  return routines[0]
}
