/** The only fetch for addresses from people or pages: public hosts only; pinning checked IPs stops DNS rebinding. */
import { lookup as resolveName } from 'node:dns/promises'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { AppError } from '#server/base/errors.ts'
import { decompress, sendRequest, toResponse } from './http-client.ts'
import { networkReason } from './network-reason.ts'
import { isPublicAddress } from './public-address.ts'
import { wireFormatOf } from './wire-format.ts'

export interface NetworkAccess {
  readonly allowAddress?: (address: string) => boolean
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
}

export interface GuardedFetchOptions extends NetworkAccess {
  readonly signal: AbortSignal
  readonly accept: readonly string[]
  readonly maxBytes?: number
  readonly timeoutMs?: number
}

export interface FetchedResource {
  /** The final address, after redirects. */
  readonly address: string
  /** Media type in lower case, without parameters. */
  readonly type: string
  readonly charset: string | undefined
  readonly body: Buffer
}

const MAX_BYTES = 2 * 1024 * 1024
const TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** @throws AppError `bad_request`. */
export function parseWebAddress(address: string, base?: string): URL {
  const parsed = URL.parse(address, base)
  if (!parsed?.hostname) throw new AppError('bad_request', 'This is not an address of the web.')
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new AppError('bad_request', 'Only addresses that begin with http:// or https:// are read.')
  if (parsed.username !== '' || parsed.password !== '')
    throw new AppError('bad_request', 'An address with a user name or a password in it is not read.')
  parsed.hash = ''
  return parsed
}

const PAGE_CONSEQUENCE = ', so it is not read.'
const SERVER_CONSEQUENCE = '. Whoever runs this server can allow it with the setting ALLOWED_NETWORKS.'

const resolveAll = async (hostname: string) =>
  (await resolveName(hostname, { all: true })).map(({ address }) => address)

/** Returns at least one allowed network address. @throws AppError if there is none. */
async function resolveAllowed(
  { hostname }: URL,
  { allowAddress = isPublicAddress, resolve = resolveAll }: NetworkAccess,
  consequence: string,
): Promise<readonly string[]> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses =
    isIP(host) > 0
      ? [host]
      : await resolve(host).catch((error: unknown) => {
          throw new AppError('unavailable', `There is no host named ${host}.`, { cause: error })
        })
  const allowed = addresses.filter(allowAddress)
  if (allowed.length === 0) throw new AppError('forbidden', `${host} is not on the public internet${consequence}`)
  return allowed
}

const pinnedLookup =
  (addresses: readonly string[]): LookupFunction =>
  (_hostname, { all }, answer) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    if (all === true) answer(null, found)
    else answer(null, found[0]?.address ?? '', found[0]?.family)
  }

interface OutgoingRequest extends Pick<RequestOptions, 'method' | 'headers'> {
  readonly body?: Buffer
}

const send = (url: URL, addresses: readonly string[], { body, ...sent }: OutgoingRequest, signal: AbortSignal) =>
  // A shared agent would reuse connections by host name, whatever their address.
  sendRequest(url, { ...sent, agent: false, lookup: pinnedLookup(addresses), signal }, (response) => response, body)

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new AppError('too_large', `The page is larger than ${Math.round(maxBytes / 1024)} KB.`)
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of decompress(response) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Sends no cookies or credentials; checks each redirect. @throws AppError for the person, or the abort reason. */
export async function guardedFetch(address: string, options: GuardedFetchOptions): Promise<FetchedResource> {
  const { accept, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  // DNS resolution cannot be aborted, so race it against the signal.
  const interrupted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted', { cause: signal.reason })), { once: true })
  })
  interrupted.catch(() => undefined)
  const sent = {
    method: 'GET',
    headers: { accept: accept.join(', '), 'accept-encoding': 'gzip, br', 'user-agent': 'Alcove' },
  }
  let url = parseWebAddress(address)
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      signal.throwIfAborted()
      const response = await send(
        url,
        await Promise.race([resolveAllowed(url, options, PAGE_CONSEQUENCE), interrupted]),
        sent,
        signal,
      )
      try {
        const { statusCode = 0, headers } = response
        if (REDIRECTS.has(statusCode) && headers.location !== undefined) {
          url = parseWebAddress(headers.location, url.href)
          continue
        }
        if (statusCode < 200 || statusCode > 299)
          throw new AppError('unavailable', `${url.host} answered with status ${statusCode}.`)
        const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
        if (!accept.includes(type.trim()))
          throw new AppError('unsupported_type', `The address holds no text (${type.trim() || 'of no known type'}).`)
        const charset = parameters
          .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)/.exec(parameter)?.[1])
          .find(Boolean)
        return { address: url.href, type: type.trim(), charset, body: await readBody(response, maxBytes) }
      } finally {
        response.destroy()
      }
    }
    throw new AppError('unavailable', `The address led on more than ${MAX_REDIRECTS} times.`)
  } catch (error) {
    options.signal.throwIfAborted()
    if (timeout.aborted)
      throw new AppError('unavailable', `${url.host} did not answer within ${timeoutMs / 1000} seconds.`, {
        cause: error,
      })
    if (error instanceof AppError) throw error
    throw new AppError('unavailable', `${url.host} cannot be read: ${networkReason(error)}.`, { cause: error })
  }
}

/** The longest answers of models take a quarter of this. */
const MAX_STREAMED_BYTES = 64 * 1024 * 1024

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * A guarded fetch for API clients with streamed responses. Rejects redirects because the request may contain a key.
 * @throws AppError for a forbidden or unreachable address, or the reason of an aborted signal.
 */
export function createGuardedFetch({
  maxBytes = MAX_STREAMED_BYTES,
  ...access
}: NetworkAccess & { readonly maxBytes?: number }): typeof fetch {
  return async function fetchGuarded(input, init) {
    // `new Request` would throw errors that are not written for people.
    const url = parseWebAddress(input instanceof Request ? input.url : String(input))
    const request = new Request(input, init)
    const { method, signal } = request
    const headers = { 'user-agent': 'Alcove', ...Object.fromEntries(request.headers), 'accept-encoding': 'gzip, br' }
    const body = request.body === null ? {} : { body: Buffer.from(await request.arrayBuffer()) }
    try {
      const addresses = await untilAborted(resolveAllowed(url, access, SERVER_CONSEQUENCE), signal)
      const response = await send(url, addresses, { method, headers, ...body }, signal)
      const { statusCode = 0 } = response
      if (REDIRECTS.has(statusCode)) {
        response.destroy()
        throw new AppError('unavailable', `${url.host} sends on to another address, which is not followed.`)
      }
      return toResponse(response, {
        format: wireFormatOf(url),
        check(bytes) {
          // Clients may hold the whole response in memory.
          if (bytes > maxBytes) throw new AppError('too_large', `${url.host} answered with far too much.`)
        },
      })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError) throw error
      throw new AppError('unavailable', `${url.host} cannot be reached: ${networkReason(error)}.`, { cause: error })
    }
  }
}
