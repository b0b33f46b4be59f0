import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { parseOptions } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { DUMMY_HASH, HASHING, hashPassword, isRightPassword, requireAcceptablePassword } from './passwords.ts'

const RULES = { minPasswordLength: 8, commonPasswords: 'refuse' } as const

test('the hash for nobody costs what a real one costs', async () => {
  const { memoryCost, timeCost, parallelism, algorithm, outputLen } = parseOptions(DUMMY_HASH)
  expect({ memoryCost, timeCost, parallelism }).toEqual(HASHING)
  const real = parseOptions(await hashPassword('a quiet corner'))
  expect({ algorithm, outputLen }).toEqual({ algorithm: real.algorithm, outputLen: real.outputLen })
})

/** How many works were begun beside this thread: the library hashes there, each password in one. */
async function worksBegunBy(act: () => Promise<unknown>): Promise<number> {
  const isOurs = new AsyncLocalStorage<true>()
  let works = 0
  const hook = createHook({
    init(_id, type) {
      if (type !== 'PROMISE' && isOurs.getStore()) works += 1
    },
  })
  hook.enable()
  await isOurs.run(true, act)
  hook.disable()
  return works
}

test('without an account a password is hashed all the same, so that the time does not tell', async () => {
  const stored = await hashPassword('a quiet corner')
  expect(await worksBegunBy(() => isRightPassword(stored, 'a guess'))).toBe(1)
  expect(await worksBegunBy(() => isRightPassword(null, 'a guess'))).toBe(1)
  expect(await worksBegunBy(() => Promise.resolve(false))).toBe(0)
})

test('only the password that was hashed is right', async () => {
  const hash = await hashPassword('a quiet corner')
  expect(hash).toMatch(/^\$argon2id\$/)
  expect(await isRightPassword(hash, 'a quiet corner')).toBe(true)
  expect(await isRightPassword(hash, 'a quiet corner ')).toBe(false)
  expect(await isRightPassword(null, 'a quiet corner')).toBe(false)
})

test('length is counted in characters where it is short and in bytes where it is long', () => {
  expect(() => requireAcceptablePassword('😀'.repeat(7), RULES)).toThrow('at least 8')
  expect(() => requireAcceptablePassword(`${'😀'.repeat(16)}quietly`, RULES)).not.toThrow()
  expect(() => requireAcceptablePassword('😀'.repeat(19), RULES)).toThrow('longer than 72')
})

test('a common password is refused, unless the operator accepts those', () => {
  expect(() => requireAcceptablePassword('password123', RULES)).toThrow('easy to guess')
  expect(() => requireAcceptablePassword('password123', { ...RULES, commonPasswords: 'accept' })).not.toThrow()
})
