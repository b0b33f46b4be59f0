import { BlockList, isIP } from 'node:net'

/** IANA's special-purpose registry, multicast, and Azure's metadata address. */
const NOT_PUBLIC_V4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Exceptions within global unicast: protocol assignments and Teredo, documentation, and 6to4, which embeds IPv4. */
const NOT_PUBLIC_V6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const notPublicV4 = new BlockList()
for (const [network, prefix] of NOT_PUBLIC_V4) notPublicV4.addSubnet(network, prefix, 'ipv4')
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')
const notPublicV6 = new BlockList()
for (const [network, prefix] of NOT_PUBLIC_V6) notPublicV6.addSubnet(network, prefix, 'ipv6')

/** Expects canonical notation. Rejects IPv6 outside global unicast, thus also mapped and translated IPv4. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !notPublicV4.check(address, 'ipv4')
  if (family === 6) return globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6')
  return false
}

/** Allows the public internet and the given networks (CIDR, or single addresses). */
export function allowNetworks(networks: readonly string[]): (address: string) => boolean {
  const extra = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) extra.addAddress(address, family)
    else extra.addSubnet(address, Number(prefix), family)
  }
  return (address) => isPublicAddress(address) || extra.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Whether the text is a single address or CIDR network. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
}
