import { restError } from './errors.ts'
import { parsePrefer, type Preferences } from './parse-prefer.ts'
import { parseQuery, type Query } from './parse-query.ts'

export type Resource =
  { readonly kind: 'relation'; readonly name: string } | { readonly kind: 'routine'; readonly name: string }

const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

export interface Media {
  readonly shape: 'array' | 'object'
  readonly stripsNulls: boolean
  readonly contentType: string
}

export interface RestRequest {
  readonly method: Method
  readonly resource: Resource
  readonly schema: string
  /** The response has a `Content-Profile` header: the request chose the schema, or several are exposed. */
  readonly sendsProfile: boolean
  readonly media: Media
  readonly preferences: Preferences
  readonly query: Query
  /** Set for GET only. */
  readonly range: string | undefined
  readonly contentType: string
  readonly body: string
}

const JSON_MEDIA: Media = { shape: 'array', stripsNulls: false, contentType: 'application/json; charset=utf-8' }

function parseMediaType(accepted: string): Media | undefined {
  const [type = '', ...parameters] = accepted
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const stripsNulls = parameters.includes('nulls=stripped')
  const suffix = stripsNulls ? ';nulls=stripped' : ''
  switch (type) {
    case 'application/json':
    case 'application/*':
    case '*/*':
      return JSON_MEDIA
    case 'application/vnd.pgrst.object+json':
    case 'application/vnd.pgrst.object':
      return {
        shape: 'object',
        stripsNulls,
        contentType: `application/vnd.pgrst.object+json${suffix}; charset=utf-8`,
      }
    case 'application/vnd.pgrst.array+json':
    case 'application/vnd.pgrst.array':
      return stripsNulls
        ? { shape: 'array', stripsNulls, contentType: `application/vnd.pgrst.array+json${suffix}; charset=utf-8` }
        : JSON_MEDIA
    default:
      return undefined
  }
}

/** @throws RestError PGRST107 */
function negotiateMedia(accept: string | undefined): Media {
  const accepted = (accept ?? '*/*').split(',').map((part) => part.trim())
  const media = accepted.map(parseMediaType).find((found) => found !== undefined)
  if (media) return media
  throw restError('PGRST107', `None of these media types are available: ${accepted.join(', ')}`)
}

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method)
}

function requireMethod(method: string, resource: Resource): Method {
  if (resource.kind === 'routine' && !['GET', 'HEAD', 'POST'].includes(method)) {
    throw restError('PGRST101', `Cannot use the ${method} method on RPC`)
  }
  if (!isMethod(method)) throw restError('PGRST117', `Unsupported HTTP method: ${method}`)
  return method
}

/** `schemas` lists the default first. @throws RestError, or AppError for a syntax error. */
export function parseRequest(
  { method: rawMethod, url, headers }: { method: string; url: string; headers: Headers },
  body: string,
  resource: Resource,
  { schemas, allowsRollback }: { schemas: readonly string[]; allowsRollback: boolean },
): RestRequest {
  const method = requireMethod(rawMethod, resource)
  const isRead = method === 'GET' || method === 'HEAD'
  const profile = headers.get(isRead ? 'accept-profile' : 'content-profile') ?? undefined
  const schema = profile ?? schemas[0] ?? 'public'
  if (!schemas.includes(schema)) {
    throw restError('PGRST106', `Invalid schema: ${schema}`, {
      hint: `Only the following schemas are exposed: ${schemas.join(', ')}`,
    })
  }
  return {
    method,
    resource,
    schema,
    sendsProfile: profile !== undefined || schemas.length > 1,
    query: parseQuery(new URL(url).searchParams, { isCall: isRead && resource.kind === 'routine' }),
    preferences: parsePrefer(headers.get('prefer') ?? '', { allowsRollback }),
    media: negotiateMedia(headers.get('accept') ?? undefined),
    range: method === 'GET' ? (headers.get('range') ?? undefined) : undefined,
    contentType: (headers.get('content-type') ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '',
    body,
  }
}
