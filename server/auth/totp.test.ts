import { randomBytes, randomUUID } from 'node:crypto'
import { TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { createTotp, findStep, decryptSecret, encryptSecret } from './totp.ts'

/** The secret of RFC 6238's own test values, "12345678901234567890". */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('the codes are those of RFC 6238', () => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [20_000_000_000, '353130'],
  ] as const) {
    expect(findStep(RFC_SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30))
  }
})

test('a code counts for its own period, from one period before it to one after', () => {
  const at = (steps: number) => findStep(RFC_SECRET, '287082', (1 + steps) * 30_000)
  expect([at(-1), at(0), at(1), at(2)]).toEqual([1, 1, 1, undefined])
  for (const malformed of ['28708', '2870820', '', '28708a', '２８７０８２']) {
    expect(findStep(RFC_SECRET, malformed, 59_000)).toBeUndefined()
  }
})

test('an enrolment can be scanned, typed and shown in a data URL', () => {
  const { secret, uri, qrCode } = createTotp({ issuer: 'Alcove', label: 'ada@example.test' })
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new URL(uri).searchParams.get('secret')).toBe(secret)
  expect(uri).toMatch(/^otpauth:\/\/totp\/Alcove:ada%40example\.test\?issuer=Alcove&/)
  expect(qrCode).toMatch(/^<svg [^#]*<\/svg>$/s)
  expect(findStep(secret, new TOTP({ secret }).generate({ timestamp: 0 }), 0)).toBe(0)
})

test('a sealed secret opens for its own factor and with its own key alone', () => {
  const [key, factorId] = [randomBytes(32), randomUUID()]
  const encrypted = encryptSecret(key, factorId, RFC_SECRET)
  expect(Buffer.from(encrypted, 'base64').toString('latin1')).not.toContain(RFC_SECRET)
  expect(decryptSecret(key, factorId, encrypted)).toBe(RFC_SECRET)
  expect(() => decryptSecret(key, randomUUID(), encrypted)).toThrow()
  expect(() => decryptSecret(randomBytes(32), factorId, encrypted)).toThrow()
})

test('a secret that was stored by an earlier version is read', () => {
  const stored = 'RyoHngrGMGO1p1WuyVXlpWhQF0f38rIYfaDZ0VGdgwronsqo4u7/Pt0p1gDudo1t78o1jzso8ZxK5oGo'
  expect(decryptSecret(Buffer.alloc(32, 7), '5f0c1f2e-3b1d-4f6a-9a54-0d6a3c1b2e90', stored)).toBe(RFC_SECRET)
})
