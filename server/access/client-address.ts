import { BlockList, isIP } from 'node:net'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context } from 'hono'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')

export function isLoopbackAddress(address: string): boolean {
  const plain = plainAddress(address)
  const version = isIP(plain)
  return version !== 0 && loopback.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}

export function peerAddress(context: Context): string | undefined {
  try {
    const { address } = getConnInfo(context).remote
    return address === undefined ? undefined : plainAddress(address)
  } catch {
    return undefined
  }
}

/** Some proxies add the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop

/** Each proxy appends the address that it saw; the client may have forged the entries before. */
export function visitorAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustProxy: number,
): string | undefined {
  if (trustProxy === 0 || forwardedFor === undefined) return peer
  const hops = forwardedFor.split(',').map((hop) => plainAddress(withoutPort(hop.trim())))
  const visitor = hops[Math.max(0, hops.length - trustProxy)]
  return visitor !== undefined && isIP(visitor) !== 0 ? visitor : peer
}

/** The eight 16-bit numbers of a valid IPv6 address, whose end may be written as IPv4. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const read = (part: string | undefined): number[] =>
    (part ?? '')
      .split(':')
      .filter((group) => group !== '')
      .flatMap((group) => {
        const bytes = group.split('.').map(Number)
        const [a = 0, b = 0, c = 0, d = 0] = bytes
        return bytes.length === 4 ? [a * 256 + b, c * 256 + d] : [Number.parseInt(group, 16)]
      })
  const [leading, trailing] = [read(head), read(tail)]
  return [...leading, ...Array<number>(Math.max(0, 8 - leading.length - trailing.length)).fill(0), ...trailing]
}

const networkKey = (groups: readonly number[], bits: number): string =>
  `${groups
    .slice(0, bits / 16)
    .map((group) => group.toString(16))
    .join(':')}::/${bits}`

// ::ffff:0:0/96 (RFC 4291), and 64:ff9b::/96, by which a network without IPv4 reaches such servers (RFC 6052).
const IPV4_PREFIXES = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

/** IPv4 address, also of one within an IPv6 address, or the /64 network, which belongs to one customer. */
export function addressKey(address: string | undefined): string {
  if (address === undefined || isIP(address) !== 6) return address ?? 'unknown'
  const groups = groupsOf(address)
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':')
  if (!IPV4_PREFIXES.has(prefix)) return networkKey(groups, 64)
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/** The /48 network around the /64 that `addressKey` names: a customer may have 65,536 of these. Undefined for IPv4. */
export function widerKey(key: string): string | undefined {
  return key.endsWith('::/64') ? networkKey(groupsOf(key.slice(0, -'/64'.length)), 48) : undefined
}

/** Limits of a /48 are those of a /64 times this: it may also hold 256 customers. */
export const WIDER_FACTOR = 8

/** The address of a request, as `addressKey` returns it. */
export const visitorKeyOf = (context: Context, trustProxy: number): string =>
  addressKey(visitorAddress(peerAddress(context), context.req.header('x-forwarded-for'), trustProxy))
