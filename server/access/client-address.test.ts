import { expect, test } from 'vitest'
import { addressKey, isLoopbackAddress, visitorAddress, widerKey } from './client-address.ts'

test('without a trusted proxy, only the address of the socket counts', () => {
  expect(visitorAddress('192.0.2.1', '203.0.113.9', 0)).toBe('192.0.2.1')
})

test('with trusted proxies, the entry of the outermost one counts', () => {
  expect(visitorAddress('10.0.0.1', '6.6.6.6, 203.0.113.9', 1)).toBe('203.0.113.9')
  expect(visitorAddress('10.0.0.1', '6.6.6.6, 203.0.113.9, 10.0.0.2', 2)).toBe('203.0.113.9')
  expect(visitorAddress('10.0.0.1', '203.0.113.9', 2)).toBe('203.0.113.9')
  expect(visitorAddress('10.0.0.1', 'unknown', 1)).toBe('10.0.0.1')
  expect(visitorAddress('10.0.0.1', undefined, 1)).toBe('10.0.0.1')
})

test('the port that a proxy adds to an address does not count', () => {
  for (const [forwarded, address] of [
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8::1]:51234', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[::ffff:203.0.113.9]:1', '203.0.113.9'],
    ['203.0.113.9:', '10.0.0.1'],
    ['[203.0.113.9', '10.0.0.1'],
  ] as const)
    expect(visitorAddress('10.0.0.1', `6.6.6.6, ${forwarded}`, 1), forwarded).toBe(address)
})

test('an IPv4 address within an IPv6 address counts as itself', () => {
  const mapped = ['::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:c000:0201']
  const translated = ['64:ff9b::192.0.2.1', '64:ff9b::c000:201', '0064:FF9B:0:0:0:0:C000:0201']
  for (const address of [...mapped, ...translated]) expect(addressKey(address), address).toBe('192.0.2.1')
  expect(addressKey('64:ff9b::192.0.2.2')).toBe('192.0.2.2')
  expect(addressKey('2001:db8::192.0.2.1')).toBe('2001:db8:0:0::/64')
  expect(addressKey('::1')).toBe('0:0:0:0::/64')
})

test('a /64 lies in a /48, an IPv4 address in none', () => {
  expect(widerKey(addressKey('2001:db8:1:2::6'))).toBe('2001:db8:1::/48')
  expect(widerKey(addressKey('2001:db8:1:ffff::6'))).toBe('2001:db8:1::/48')
  expect(widerKey(addressKey('2001:db8:2:2::6'))).toBe('2001:db8:2::/48')
  expect(widerKey(addressKey('::1'))).toBe('0:0:0::/48')
  expect(widerKey('192.0.2.1')).toBeUndefined()
  expect(widerKey('unknown')).toBeUndefined()
})

test('the addresses of one IPv6 network count as one visitor', () => {
  expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
  expect(addressKey('2001:0db8:1:2::6')).toBe('2001:db8:1:2::/64')
  expect(addressKey('2001:db8::1')).toBe('2001:db8:0:0::/64')
  expect(addressKey('192.0.2.1')).toBe('192.0.2.1')
  expect(addressKey(undefined)).toBe('unknown')
})

test('recognises loopback addresses in all spellings', () => {
  for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
    expect(isLoopbackAddress(address)).toBe(true)
  for (const address of ['128.0.0.1', '::2', '::ffff:10.0.0.1', 'localhost', ''])
    expect(isLoopbackAddress(address)).toBe(false)
})
