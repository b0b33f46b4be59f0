import { expect, test } from 'vitest'
import { addressKey, isLoopbackAddress, visitorAddress } from './client-address.ts'

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
