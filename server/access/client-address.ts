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

/** Each proxy appends the address that it saw; the client may have forged the entries before. */
export function visitorAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustProxy: number,
): string | undefined {
  if (trustProxy === 0 || forwardedFor === undefined) return peer
  const hops = forwardedFor.split(',').map((hop) => plainAddress(hop.trim()))
  const visitor = hops[Math.max(0, hops.length - trustProxy)]
  return visitor !== undefined && isIP(visitor) !== 0 ? visitor : peer
}

/** The address of a request, as `addressKey` returns it. */
export const visitorKeyOf = (context: Context, trustProxy: number): string =>
  addressKey(visitorAddress(peerAddress(context), context.req.header('x-forwarded-for'), trustProxy))

/** IPv4 address, or the /64 network, which belongs to one customer. */
export function addressKey(address: string | undefined): string {
  if (address === undefined || isIP(address) !== 6) return address ?? 'unknown'
  const [head = '', tail] = address.split('::')
  const leading = head === '' ? [] : head.split(':')
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - leading.length - trailing.length)
  const groups = [...leading, ...Array<string>(zeros).fill('0'), ...trailing]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
