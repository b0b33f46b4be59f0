/** Finds the function that a call means: by name and by the names of its arguments. */
import { restError } from './errors.ts'
import { parseArguments } from './payload.ts'
import { type Reading, readingOf, type Source } from './plan.ts'
import { type Media, type RestRequest } from './request.ts'
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

export interface CallPlan extends Reading {
  readonly kind: 'call'
  readonly routine: Routine
  readonly media: Media
  readonly args: CallArguments
}

/** Name of the one column of a function that returns no rows. */
export const SCALAR = 'pgrst_scalar'

/** Whether these argument names, neither more nor less, can be given to the function. */
function fits({ parameters }: Routine, names: ReadonlySet<string>): boolean {
  const known = new Set(parameters.map(({ name }) => name))
  return (
    [...names].every((name) => known.has(name)) &&
    parameters.every(({ name, isRequired }) => name !== '' && (!isRequired || names.has(name)))
  )
}

const WHOLE_BODY_TYPES: Readonly<Record<string, readonly string[]>> = {
  'application/json': ['json', 'jsonb'],
  'text/plain': ['text'],
}

function takesWholeBody({ parameters }: Routine, contentType: string): boolean {
  const [only, ...others] = parameters
  return only?.name === '' && others.length === 0 && (WHOLE_BODY_TYPES[contentType] ?? []).includes(only.type)
}

function notFound({ schema, resource }: RestRequest, names: readonly string[]) {
  const called = `${schema}.${resource.name}`
  const list = names.join(', ')
  return restError(
    'PGRST202',
    `Could not find the function ${called}${names.length > 0 ? `(${list})` : ' without parameters'} in the schema cache`,
    {
      details: `Searched for the function ${called} ${
        names.length > 0 ? `with parameter${names.length > 1 ? 's' : ''} ${list}` : 'without parameters'
      }, but no matches were found in the schema cache.`,
    },
  )
}

function ambiguous(found: readonly Routine[]) {
  const shown = found.map(
    ({ schema, name, parameters }) =>
      `${schema}.${name}(${parameters.map((parameter) => `${parameter.name} => ${parameter.type}`).join(', ')})`,
  )
  return restError('PGRST203', `Could not choose the best candidate function between: ${shown.join(', ')}`, {
    hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
  })
}

function onlyOne(found: readonly Routine[]): Routine | undefined {
  if (found.length > 1) throw ambiguous(found)
  return found[0]
}

const parametersOf = ({ parameters }: Routine, names: ReadonlySet<string>) =>
  parameters.filter(({ name }) => names.has(name))

function argumentsOf(request: RestRequest, candidates: readonly Routine[]): { routine: Routine; args: CallArguments } {
  const { method, query, body, contentType } = request
  if (method !== 'POST') {
    const names = new Set(query.args.map(([name]) => name))
    const routine = onlyOne(candidates.filter((found) => fits(found, names)))
    if (!routine) throw notFound(request, [...names])
    const values = parametersOf(routine, names).map((parameter) => {
      const texts = query.args.filter(([name]) => name === parameter.name).map(([, text]) => text)
      return { parameter, texts: parameter.isVariadic ? texts : texts.slice(-1) }
    })
    return { routine, args: { kind: 'texts', values } }
  }

  const wholeBody = () => {
    const routine = onlyOne(candidates.filter((found) => takesWholeBody(found, contentType)))
    return (
      routine && { routine, args: { kind: 'body', type: routine.parameters[0]?.type ?? 'json', text: body } as const }
    )
  }
  if (contentType !== 'application/json') {
    const taken = contentType === 'text/plain' ? wholeBody() : undefined
    if (taken) return taken
    throw restError('PGRST102', `Content-Type not acceptable: ${contentType}`)
  }
  const given = parseArguments(body)
  const names = new Set(query.columns ?? given.keys)
  const routine = given.isArray ? undefined : onlyOne(candidates.filter((found) => fits(found, names)))
  if (routine) {
    return {
      routine,
      args: { kind: 'json', parameters: parametersOf(routine, names), text: given.text, isArray: false },
    }
  }
  const taken = wholeBody()
  if (taken) return { ...taken, args: { ...taken.args, text: given.text } }
  throw notFound(request, [...names])
}

const sourceOf = (routine: Routine): Source => ({
  name: routine.name,
  schema: routine.schema,
  width: Math.max(1, routine.columns.size),
  typeOf: (column) => (routine.returns === 'row' ? routine.columns.get(column) : undefined),
})

/** The plan for a call; whether it may write is up to the function's volatility and the method. */
export function planCall(catalogue: Catalogue, request: RestRequest, maxRows: number | undefined): CallPlan {
  const { schema, resource, preferences, media } = request
  const { routine, args } = argumentsOf(request, catalogue.routines(schema, resource.name))
  if (preferences.maxAffected !== undefined && preferences.handling === 'strict' && !routine.returnsSet) {
    throw restError(
      'PGRST128',
      'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
    )
  }
  return { kind: 'call', routine, args, media, ...readingOf(catalogue, sourceOf(routine), request, maxRows) }
}

/** GET never writes; POST only where the function says that it may. */
export const isReadOnlyCall = ({ method }: RestRequest, { routine }: CallPlan): boolean =>
  method !== 'POST' || !routine.isVolatile
