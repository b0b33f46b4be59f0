import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt, encrypt } from './encrypt.ts'

const key = randomBytes(32)

test('opens with the key and the context that it was sealed with, and with no other', () => {
  const sealed = encrypt(key, 'sk-ünïcode', 'hers')
  expect(decrypt(key, sealed, 'hers')).toBe('sk-ünïcode')
  expect(() => decrypt(randomBytes(32), sealed, 'hers')).toThrow()
  expect(() => decrypt(key, sealed, 'his')).toThrow()
})

test('does not open when any byte was changed', () => {
  const sealed = encrypt(key, 'secret')
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(sealed.readUInt8(index) ^ 1, index)
    expect(() => decrypt(key, changed), `byte ${index}`).toThrow()
  }
})

test('seals the same text differently each time, and nowhere in the clear', () => {
  const [one, other] = [encrypt(key, 'secret'), encrypt(key, 'secret')]
  expect(one.equals(other)).toBe(false)
  expect(one.includes('secret')).toBe(false)
})

test('a tag that was cut short proves nothing', () => {
  const empty = encrypt(key, '')
  expect(decrypt(key, empty)).toBe('')
  for (const length of [16, 20, 27]) expect(() => decrypt(key, empty.subarray(0, length))).toThrow()
})
