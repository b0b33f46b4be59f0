/**
 * The one way to an address that a person or a page names. Only http and https, only the public internet: a name is
 * resolved once, and the connection goes to exactly the addresses that were looked at; a redirect is a new address.
 */
import { lookup as resolveName } from 'node:dns/promises'
import { type IncomingMessage, type RequestOptions } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { AppError } from '#server/base/errors.ts'
import { decoded, sendRequest, toResponse } from './http-client.ts'
import { networkReason } from './network-reason.ts'
import { isPublicAddress } from './public-address.ts'

export interface NetworkAccess {
  /** Which network addresses may be connected to; those of the public internet unless it says otherwise. */
  readonly allowAddress?: (address: string) => boolean
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
}

export interface GuardedFetchOptions extends NetworkAccess {
  readonly signal: AbortSignal
  /** Media types that are read; anything else is refused. */
  readonly accept: readonly string[]
  readonly maxBytes?: number
  readonly timeoutMs?: number
}

export interface FetchedResource {
  /** Where it was found, after redirects. */
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

/** @throws AppError `bad_request` where it is no address of the web. */
export function parseAddress(address: string, base?: string): URL {
  const parsed = URL.parse(address, base)
  if (!parsed?.hostname) throw new AppError('bad_request', 'This is not an address of the web.')
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new AppError('bad_request', 'Only addresses that begin with http:// or https:// are read.')
  if (parsed.username !== '' || parsed.password !== '')
    throw new AppError('bad_request', 'An address with a user name or a password in it is not read.')
  parsed.hash = ''
  return parsed
}

/** What follows for a page, which nobody may read from inside. */
const NOT_READ = ', so it is not read.'
/** And for a server that somebody wants to connect. */
const MAY_BE_ALLOWED = '. Whoever runs this server can allow it with the setting ALLOWED_NETWORKS.'

const resolveAll = async (hostname: string) =>
  (await resolveName(hostname, { all: true })).map(({ address }) => address)

/** The network addresses of a host that may be connected to: at least one. */
async function admit(
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

/** Answers every question for a name with the addresses that were admitted. */
const pinTo =
  (addresses: readonly string[]): LookupFunction =>
  (_hostname, { all }, answer) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    if (all === true) answer(null, found)
    else answer(null, found[0]?.address ?? '', found[0]?.family)
  }

interface Sent extends Pick<RequestOptions, 'method' | 'headers'> {
  readonly body?: Buffer
}

const open = (url: URL, addresses: readonly string[], { body, ...sent }: Sent, signal: AbortSignal) =>
  // No shared agent: its idle connections are found by name, whatever address they lead to.
  sendRequest(url, { ...sent, agent: false, lookup: pinTo(addresses), signal }, (response) => response, body)

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new AppError('too_large', `The page is larger than ${Math.round(maxBytes / 1024)} KB.`)
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Fetches with GET, without cookies or credentials.
 * @throws AppError with a sentence for the person who named the address, or the reason of an aborted signal.
 */
export async function guardedFetch(address: string, options: GuardedFetchOptions): Promise<FetchedResource> {
  const { accept, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout])
  // The resolver cannot be interrupted, so its answer is raced.
  const interrupted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted', { cause: signal.reason })), { once: true })
  })
  interrupted.catch(() => undefined)
  const sent = {
    method: 'GET',
    headers: { accept: accept.join(', '), 'accept-encoding': 'gzip, br', 'user-agent': 'Alcove' },
  }
  let url = parseAddress(address)
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      signal.throwIfAborted()
      const response = await open(url, await Promise.race([admit(url, options, NOT_READ), interrupted]), sent, signal)
      try {
        const { statusCode = 0, headers } = response
        if (REDIRECTS.has(statusCode) && headers.location !== undefined) {
          url = parseAddress(headers.location, url.href)
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

/** Of one streamed answer: the longest that models write take a quarter of it on the wire. */
const MAX_STREAMED_BYTES = 64 * 1024 * 1024

/** What comes first: the resolver of names cannot be interrupted. */
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
 * `fetch` for whoever speaks a protocol of its own to an address that a person entered: any method, streamed answers,
 * the same guard. A redirect is refused, because the request may carry a key.
 * @throws AppError where the address may not be called or cannot be reached, or the reason of an aborted signal.
 */
export function createGuardedFetch({
  maxBytes = MAX_STREAMED_BYTES,
  ...access
}: NetworkAccess & { readonly maxBytes?: number }): typeof fetch {
  return async function fetchGuarded(input, init) {
    // Before it becomes a request, whose own refusals are no sentences for the person who entered it.
    const url = parseAddress(input instanceof Request ? input.url : String(input))
    const request = new Request(input, init)
    const { method, signal } = request
    const headers = { 'user-agent': 'Alcove', ...Object.fromEntries(request.headers), 'accept-encoding': 'gzip, br' }
    const body = request.body === null ? {} : { body: Buffer.from(await request.arrayBuffer()) }
    try {
      const admitted = await untilAborted(admit(url, access, MAY_BE_ALLOWED), signal)
      const response = await open(url, admitted, { method, headers, ...body }, signal)
      const { statusCode = 0 } = response
      if (REDIRECTS.has(statusCode)) {
        response.destroy()
        throw new AppError('unavailable', `${url.host} sends on to another address, which is not followed.`)
      }
      return toResponse(response, {
        check(bytes) {
          // Whoever reads an answer may keep all of it in memory.
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
