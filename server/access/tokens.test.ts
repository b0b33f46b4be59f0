import { expect, test } from 'vitest'
import { cacheVerified } from './tokens.ts'

const claims = { role: 'authenticated', exp: Math.floor(Date.now() / 1000) + 3_600 }

function countChecks() {
  const checked: string[] = []
  const tokens = cacheVerified((token) => {
    checked.push(token)
    return Promise.resolve(claims)
  })
  return { checked, verify: (token: string) => tokens.verify(token) }
}

test('a verified token is not checked again', async () => {
  const { checked, verify } = countChecks()
  for (let n = 0; n < 3; n += 1) expect(await verify('token')).toMatchObject({ role: 'authenticated' })
  expect(checked).toEqual(['token'])
})

test('long tokens of many people take no more memory than short ones: the latest used stay', async () => {
  const { checked, verify } = countChecks()
  const tokenOf = (person: number) => `${person} `.padEnd(16_000, 'x')
  for (let person = 0; person < 1_000; person += 1) {
    await verify(tokenOf(person))
    await verify(tokenOf(0))
  }
  expect(checked).toHaveLength(1_000)
  await verify(tokenOf(1))
  expect(checked).toHaveLength(1_001)
  await verify(tokenOf(999))
  expect(checked).toHaveLength(1_001)
})
