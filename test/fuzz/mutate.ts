/** Makes a hostile message out of a valid request: one to four changes to its target, headers or body. */
import { gzipSync } from 'node:zlib'
import {
  type Attacker,
  type Body,
  type FormPart,
  pathOf,
  serviceOf,
  type Service,
  type ValidRequest,
} from './corpus.ts'
import type { Random } from './random.ts'
import { restQuery } from './rest-query.ts'
import { damageBytes, hostileJson, hostileText, hostileValue } from './values.ts'

/** A message before it is framed: its header lines may repeat and are sent as they are. */
export interface Message {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer
}

export interface Credentials {
  readonly attacker: Attacker
  readonly apikey: string
  /** Ids of another person, who must not be harmed. */
  readonly victimIds: readonly string[]
}

const BOUNDARY = 'alcove-boundary-of-the-fuzzer'

const formPart = ({ name, filename, type, content }: FormPart): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"` +
  (filename === undefined ? '' : `; filename="${filename}"`) +
  (type === undefined ? '' : `\r\ncontent-type: ${type}`) +
  `\r\n\r\n${content}\r\n`

function encodeBody(body: Body): { type: string | undefined; bytes: Buffer } {
  switch (body.kind) {
    case 'none':
      return { type: undefined, bytes: Buffer.alloc(0) }
    case 'json':
      return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body.value)) }
    case 'bytes':
      return { type: body.type, bytes: Buffer.from(body.content) }
    case 'form': {
      const bytes = Buffer.from(`${body.parts.map(formPart).join('')}--${BOUNDARY}--\r\n`)
      return { type: `multipart/form-data; boundary=${BOUNDARY}`, bytes }
    }
  }
}

/** Replaces one value anywhere inside, or adds a key. */
function changeValue(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
    const at = random.int(value.length)
    return value.map((item: unknown, index) => (index === at ? changeValue(random, item) : item))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return hostileValue(random)
  const keys = Object.keys(value)
  if (keys.length === 0 || random.chance(0.15)) return { ...value, [hostileText(random)]: hostileValue(random) }
  if (random.chance(0.05)) return hostileValue(random)
  const key = random.pick(keys)
  const { [key]: changed, ...rest } = value as Record<string, unknown>
  return random.chance(0.15) ? rest : { ...rest, [key]: changeValue(random, changed) }
}

function changeBody(random: Random, body: Body): Body {
  if (body.kind === 'json') return { kind: 'json', value: changeValue(random, body.value) }
  if (body.kind === 'form') {
    const parts = body.parts.map((part) =>
      random.pick<() => FormPart>([
        () => ({ ...part, name: hostileText(random).replaceAll('"', '') }),
        () => ({ ...part, filename: hostileText(random).slice(0, 5_000) }),
        () => ({
          ...part,
          type: random.pick(['application/pdf;, text/html', 'application/pdf', 'image/png', 'a', '']),
        }),
        () => ({ ...part, content: hostileText(random).repeat(random.pick([1, 1, 20])) }),
      ])(),
    )
    return { kind: 'form', parts: random.chance(0.2) ? [...parts, ...parts, ...parts] : parts }
  }
  return body.kind === 'bytes' ? { ...body, content: hostileText(random) } : { kind: 'json', value: {} }
}

const HEADERS: readonly ((random: Random) => [string, string])[] = [
  (random) => ['prefer', random.pick(['count=exact', 'return=representation', 'tx=rollback', 'handling=strict,max-affected=a', 'timezone=../../etc', 'missing=default', 'resolution=ignore-duplicates'])],
  (random) => ['range', random.pick(['0-', '0-0', '5-1', 'bytes=0-', 'bytes=-1', 'bytes=99999999999-', 'bytes=0-1,3-4,5-6', 'items=0-9', `bytes=${'0-1,'.repeat(500)}1-2`])],
  (random) => ['accept', random.pick(['application/vnd.pgrst.object+json', 'text/csv', 'application/geo+json', 'application/vnd.pgrst.plan+json; options=analyze', 'a/b', '*/*;q=9', ','.repeat(2_000)])],
  (random) => ['content-type', random.pick(['text/plain', 'text/csv', 'application/octet-stream', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'multipart/form-data', 'multipart/form-data; boundary=', `multipart/form-data; boundary=${'b'.repeat(300)}`, 'application/pdf;, text/html', ';;;', ''])],
  (random) => ['content-encoding', random.pick(['gzip', 'br', 'deflate', 'gzip, gzip', 'aws-chunked'])],
  (random) => ['accept-encoding', random.pick(['gzip', 'br;q=0', 'identity;q=0', '*'])],
  (random) => [random.pick(['accept-profile', 'content-profile']), random.pick(['auth', 'pg_catalog', 'storage', 'public', '"'])],
  (random) => ['x-forwarded-for', random.pick(['127.0.0.1', '::1, a, b', '1.1.1.1,'.repeat(900), "'"])],
  (random) => ['x-forwarded-host', random.pick(['elsewhere.example', '[', ''])],
  (random) => ['x-http-method-override', random.pick(['DELETE', 'PATCH'])],
  (random) => ['host', random.pick(['elsewhere.example', '[::1', 'a@b', 'localhost:99999', '/', '', '%', 'a b', '\u00e9'])],
  (random) => ['expect', random.pick(['100-continue', '200-ok', ''])],
  (random) => ['upgrade', random.pick(['websocket', 'h2c', 'TLS/1.0'])],
  (random) => ['connection', random.pick(['upgrade', 'keep-alive', 'close, upgrade', 'content-length', 'TE'])],
  (random) => ['origin', random.pick(['null', 'https://elsewhere.example', 'file://', '[', ''])],
  (random) => ['cookie', random.pick(['a=b', `alcove-session=${'x'.repeat(3_000)}`, '=;=;=', 'a="\u00ff"; ;;', '__proto__=1'])],
  (random) => ['authorization', random.pick(['Basic YTpi', 'Bearer', 'Bearer  a', 'bearer a.b.c', `Bearer ${'a'.repeat(6_000)}`, 'Bearer eyJhbGciOiJub25lIn0.e30.', 'Negotiate'])],
  (random) => ['if-none-match', random.pick(['*', '"a"', '"a",'.repeat(900), 'W/'])],
  (random) => ['if-modified-since', random.pick(['Thu, 01 Jan 1970 00:00:00 GMT', 'yesterday'])],
  (random) => [random.pick(['x-metadata', 'x-upsert', 'cache-control', 'x-supabase-api-version', 'x-request-id', 'x-client-info', 'upload-metadata', 'tus-resumable', 'content-disposition']), random.pick(['e30=', '!', 'true', 'max-age=1e9', '\u00ff\u00fe', 'a'.repeat(4_000), '2024-01-01', ''])],
  (random) => ['a'.repeat(random.pick([1, 200, 9_000])), 'b'],
  (random) => ['x-huge', 'h'.repeat(random.pick([7_000, 15_000, 17_000, 70_000]))],
  (random) => [random.pick(['x y', 'x:y', '\u0000', '(', '']), 'value'],
  () => ['x-folded', 'a\r\n folded'],
  () => ['x-split', 'a\r\nset-cookie: b=c'],
  () => ['x-nul', 'a\u0000b'],
] // prettier-ignore

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'QUERY', 'get', 'ANYTHING', ''] // prettier-ignore

/** Percent-encodes what must not stand in a request target, and leaves the rest as it is. */
const encodeTarget = (text: string): string => encodeURI(text.toWellFormed()).replaceAll('%25', '%')

const TARGETS: readonly ((target: string, random: Random) => string)[] = [
  (target, random) => target.replace(/[^/?]+(?=\?|$)/, () => encodeTarget(hostileText(random))),
  (target, random) => `${target}/${encodeTarget(hostileText(random))}`,
  (target, random) => target.replace(/[0-9a-f-]{36}/, () => random.uuid()),
  (target) => target.replace('/', '//'),
  (target) => target.replaceAll('/', '%2f'),
  (target) => target.replace(/\/[^/]*$/, '/..'),
  (target) => target.replace(/\/([^/]*)$/, '/./%2e%2e/$1'),
  (target) => `http://elsewhere.example${target}`,
  (target) => `//elsewhere.example${target}`,
  (target) => target.slice(1),
  (target) => `${target}#fragment`,
  (target) => target.toUpperCase(),
  (target) => `${target}%`,
  (target) => `${target}\u00ff\u0080`,
  () => '*',
  () => 'elsewhere.example:443',
  () => '/',
  (target, random) => `${target}?${Array.from({ length: random.pick([2, 400]) }, (_, at) => `a${at % 7}=b`).join('&')}`,
  (target, random) => `${target}${target.includes('?') ? '&' : '?'}${encodeTarget(hostileText(random)).slice(0, 60_000)}`,
  (target, random) => target.replace(/=[^&]*/, () => `=${encodeTarget(hostileText(random)).replaceAll('&', '%26')}`),
  (target) => target.replace(/\?(.*)/, '?$1&$1&$1'),
  (target) => target.replaceAll('=', '[]='),
] // prettier-ignore

/** Larger than any body that a service reads whole. */
const MAX_BODY_BYTES = 6_000_000

type Change = (message: Message, random: Random, credentials: Credentials) => void

const CHANGES: readonly Change[] = [
  (message, random) => (message.target = random.pick(TARGETS)(message.target, random)),
  (message, random) => message.headers.push(random.pick(HEADERS)(random)),
  (message, random) => {
    for (let more = random.pick([2, 5, 120]); more > 0; more -= 1) message.headers.push(random.pick(HEADERS)(random))
  },
  (message, random) => message.headers.length > 0 && message.headers.push(random.pick(message.headers)),
  (message, random) => message.headers.splice(random.int(message.headers.length), 1),
  (message, random) => (message.method = random.pick(METHODS)),
  (message, random) => (message.body = damageBytes(random, message.body)),
  (message, random) => (message.body = Buffer.from(hostileJson(random))),
  (message, random) => {
    message.body = Buffer.alloc(Math.min(message.body.length * random.pick([2, 50, 3_000]), MAX_BODY_BYTES), message.body)
  },
  (message, random) => {
    message.headers.push(['content-encoding', 'gzip'])
    if (random.chance(0.8)) message.body = gzipSync(message.body)
  },
  (message) => (message.body = Buffer.from(message.body.toString(), 'utf16le')),
  (message) => (message.headers = message.headers.filter(([name]) => name !== 'authorization')),
  (message) => (message.headers = message.headers.filter(([name]) => name !== 'authorization' && name !== 'apikey')),
  (message, random, { victimIds }) => {
    message.target = message.target.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, () => random.pick(victimIds))
  },
  (message, random, { victimIds }) => {
    message.body = Buffer.from(message.body.toString().replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, () => random.pick(victimIds)))
  },
] // prettier-ignore

function messageOf(request: ValidRequest, { attacker, apikey }: Credentials): Message {
  const { type, bytes } = encodeBody(request.body)
  const path = pathOf(request, attacker)
  return {
    method: request.method,
    target: request.query === undefined ? path : `${path}?${request.query}`,
    headers: [
      ['host', 'localhost'],
      ['apikey', apikey],
      ['authorization', `Bearer ${attacker.token}`],
      ...Object.entries(request.headers ?? {}),
      ...(type === undefined ? [] : [['content-type', type] satisfies [string, string]]),
    ],
    body: bytes,
  }
}

export interface Mutated {
  readonly message: Message
  readonly service: Service
}

/** No change at all in one of eight. */
export function mutate(random: Random, valid: readonly ValidRequest[], credentials: Credentials): Mutated {
  const request = random.pick(valid)
  const changed = random.chance(0.5) ? { ...request, body: changeBody(random, request.body) } : request
  const isUnchanged = random.chance(0.125)
  const message = messageOf(isUnchanged ? request : changed, credentials)
  if (!isUnchanged) {
    const isRest = request.route === '/rest/v1/:name'
    if (isRest && random.chance(0.6)) message.target = `${message.target.replace(/\?.*/, '')}?${restQuery(random)}`
    for (let changes = random.int(4); changes > 0; changes -= 1) random.pick(CHANGES)(message, random, credentials)
  }
  return { message, service: serviceOf(request.route) }
}

/** The request as it was meant, without changes. */
export const unchanged = (request: ValidRequest, credentials: Credentials): Mutated => ({
  message: messageOf(request, credentials),
  service: serviceOf(request.route),
})
