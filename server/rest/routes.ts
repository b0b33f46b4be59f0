/** `/rest/v1`: PostgREST's protocol for tables, views and functions of the exposed schemas, as the caller's role. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { tokenOrApiKeyOf } from '#server/access/authenticate.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { allowAnyOrigin } from '#server/base/any-origin.ts'
import { type Log, logFailedRequest } from '#server/base/log.ts'
import { connectionCaller, createAdmission, SERVICE_CALLER } from '#server/database/admission.ts'
import type { DirectDispatch } from '#server/database/direct-dispatch.ts'
import type { Database } from '#server/database/scope.ts'
import { type AnswerBounds, DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts'
import type { Catalogue, Relation } from './catalogue.ts'
import { answerPreflight, EXPOSED_HEADERS } from './cors.ts'
import { renderError, RestError, restError, toRestError } from './errors.ts'
import { nearestName } from './nearest-name.ts'
import { parseRequest, type Resource, type RestRequest } from './parse-request.ts'
import { planCall } from './plan-call.ts'
import { planTable } from './plan-table.ts'
import type { Plan } from './plan.ts'
import { respond } from './respond.ts'
import { runPlan, requestSettings } from './run-plan.ts'
import type { SchemaCache } from './schema-cache.ts'

export interface RestOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly schemaCache: SchemaCache
  readonly log: Log
  /** The default first; profile headers choose another one. */
  readonly schemas?: readonly string[]
  readonly statementTimeoutMs?: number
  readonly maxBodyBytes?: number
  readonly bounds?: AnswerBounds
  readonly allowsRollback?: boolean
  readonly directDispatch?: DirectDispatch | undefined
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
}

interface Variables {
  Variables: { claims?: VerifiedClaims }
}

/** @throws RestError PGRST302 */
function requireToken(context: Context): string {
  const token = tokenOrApiKeyOf(context)
  if (token !== undefined) return token
  throw restError('PGRST302', 'No API key found in request', {
    hint: 'No `apikey` request header was found.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

function requireRelation(catalogue: Catalogue, schema: string, name: string): Relation {
  const found = catalogue.relation(schema, name)
  if (found) return found
  const nearest = nearestName(
    name,
    catalogue.relations(schema).map((relation) => relation.name),
  )
  throw restError('PGRST205', `Could not find the table '${schema}.${name}' in the schema cache`, {
    hint: nearest === undefined ? null : `Perhaps you meant the table '${schema}.${nearest}'`,
  })
}

const UNKNOWN_NAME_CODES = new Set(['PGRST200', 'PGRST202', 'PGRST204', 'PGRST205', '42703', '42704'])

/** An unknown name may be newer than the catalogue, so plan again with a refreshed one. */
async function planRequest(cache: SchemaCache, request: RestRequest, bounds: AnswerBounds): Promise<Plan> {
  const { schema, resource } = request
  const planWith = (catalogue: Catalogue): Plan =>
    resource.kind === 'relation'
      ? planTable(catalogue, requireRelation(catalogue, schema, resource.name), request, bounds)
      : planCall(catalogue, request, bounds)
  const catalogue = await cache.current()
  try {
    return planWith(catalogue)
  } catch (error) {
    const isUnknownName = error instanceof RestError && UNKNOWN_NAME_CODES.has(error.code)
    const refreshed = isUnknownName ? await cache.refresh() : catalogue
    if (refreshed === catalogue) throw error
    return planWith(refreshed)
  }
}

/** Reading a body of a megabyte, and sending it to PostgreSQL, takes the thread for milliseconds each. */
const LARGE_BODY_CHARACTERS = 128 * 1024

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

export function createRestRoutes({
  database,
  tokens,
  schemaCache,
  log,
  schemas = ['public'],
  statementTimeoutMs = 8_000,
  maxBodyBytes = 1_048_576,
  bounds = DEFAULT_ANSWER_BOUNDS,
  allowsRollback = false,
  directDispatch,
  takeTurn,
}: RestOptions): Hono<Variables> {
  const rest = new Hono<Variables>()

  const largeBodies = createAdmission({ places: Infinity, placesPerCaller: 1, waitsFor: 'earlier ones' })

  /** Large bodies of one caller are read one after another, with requests of others between their parts. */
  async function readAlone<T>(caller: string, read: () => Promise<T>): Promise<T> {
    await largeBodies.enter(caller)
    try {
      await nextTurn()
      return await read()
    } finally {
      largeBodies.leave(caller)
    }
  }

  async function handleRequest(context: Context<Variables>, resource: Resource): Promise<Response> {
    const { raw } = context.req
    const token = requireToken(context)
    const verify = async (): Promise<VerifiedClaims> => {
      const claims = await tokens.verify(token)
      context.set('claims', claims)
      return claims
    }
    // Received before the token is checked: a session may end while its client sends slowly.
    const body = isRead(raw.method) ? '' : await context.req.text()
    const given = await verify()
    const isLarge = body.length > LARGE_BODY_CHARACTERS
    const caller = connectionCaller(given)
    const isAlone = isLarge && caller !== SERVICE_CALLER
    const read = async () => {
      // The session may have ended during the wait.
      const claims = isAlone ? await verify() : given
      const request = parseRequest(raw, body, resource, { schemas, allowsRollback })
      const plan = await planRequest(schemaCache, request, bounds)
      if (isLarge) await nextTurn()
      return { claims, request, plan }
    }
    // Not while the statement runs: it may wait for a row, and waits for its connection by itself.
    const { claims, request, plan } = isAlone ? await readAlone(caller, read) : await read()
    const settings = requestSettings(request, raw.headers, statementTimeoutMs)
    return respond(request, plan, await runPlan(database, claims, request, plan, { settings, directDispatch }))
  }

  rest.options('*', answerPreflight)
  rest.use(allowAnyOrigin({ exposeHeaders: EXPOSED_HEADERS }))
  if (takeTurn) rest.use(takeTurn)
  const rejectLargeBody = (): never => {
    // The rest of the body stays unread, so the connection cannot serve another request.
    throw new RestError('PGRST102', 413, `The body is larger than ${maxBodyBytes} bytes`, {
      headers: { Connection: 'close' },
    })
  }
  const limitBody = bodyLimit({ maxSize: maxBodyBytes, onError: rejectLargeBody })
  rest.use(async (context, next) => {
    if (isRead(context.req.method)) return next()
    const length = context.req.header('content-length')
    // HTTP enforces a declared length, so the stream needs no counting.
    if (length === undefined || context.req.header('transfer-encoding') !== undefined) return limitBody(context, next)
    if (Number(length) > maxBodyBytes) rejectLargeBody()
    return next()
  })
  rest.all('/rpc/:name', (context) => handleRequest(context, { kind: 'routine', name: context.req.param('name') }))
  rest.all('/:name', (context) => handleRequest(context, { kind: 'relation', name: context.req.param('name') }))
  rest.all('*', () => {
    throw restError('PGRST125', 'Invalid path specified in request URL')
  })

  rest.onError((error, context) => {
    const claims = context.get('claims')
    const known = toRestError(error, claims !== undefined && claims.role !== 'anon')
    if (!known || known.status >= 500) {
      logFailedRequest(log, { err: error, method: context.req.method, path: context.req.path }, 'a data request failed')
    }
    const response = known ?? restError('PGRSTX00', 'The request could not be answered.')
    return renderError(response, context.req.method === 'HEAD')
  })

  return rest
}
