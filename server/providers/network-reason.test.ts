import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { networkReason } from './network-reason.ts'

test('describes a known code in words, with the code', async () => {
  const refused = await new Promise((resolve) => connect(1, '127.0.0.1').on('error', resolve))
  expect(networkReason(refused)).toBe('nothing answers at that address (ECONNREFUSED)')
  const unknown = await lookup('a'.repeat(64)).catch((error: unknown) => error)
  expect(networkReason(unknown)).toMatch(/^(?:there is no host of that name|its name cannot be looked up)/)
})

test('uses the message of an error without a known code', () => {
  expect(networkReason(new Error('certificate has expired'))).toBe('certificate has expired')
  expect(networkReason(Object.assign(new Error(''), { code: 'EPROTO' }))).toBe('EPROTO')
})
