import { expect, test } from 'vitest'
import { isPublicAddress } from './public-address.ts'

test.for(['1.1.1.1', '93.184.215.14', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::8a'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

test.for([
  ['0.0.0.0', 'this host'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.100.100.200', 'carrier NAT, and the metadata of Alibaba'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local, and the metadata of most clouds'],
  ['168.63.129.16', 'the metadata of Azure'],
  ['192.0.0.192', 'the metadata of Oracle'],
  ['192.0.2.1', 'documentation'],
  ['198.18.0.1', 'benchmarks'],
  ['224.0.0.1', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'mapped'],
  ['::ffff:7f00:1', 'mapped'],
  ['::ffff:1.1.1.1', 'mapped'],
  ['::127.0.0.1', 'compatible'],
  ['64:ff9b::7f00:1', 'translated'],
  ['2002:7f00:1::', '6to4'],
  ['2001:0:7f00:1::', 'Teredo'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'the metadata of AWS'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['2001:db8::1', 'documentation'],
  ['0177.0.0.1', 'no address as it stands'],
  ['2130706433', 'no address as it stands'],
  ['example.com', 'a name'],
  ['', 'nothing'],
] as const)('%s is not public: %s', ([address]) => {
  expect(isPublicAddress(address)).toBe(false)
})
