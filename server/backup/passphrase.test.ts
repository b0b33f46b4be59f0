import { hkdfSync, randomBytes, scryptSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPassphraseRecord, openPassphrase, passphraseRecord } from './passphrase.ts'

const PASSPHRASE = 'a passphrase of several words'

test('a record opens with its own passphrase alone', async () => {
  const { record, key } = await createPassphraseRecord(PASSPHRASE)
  expect(passphraseRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual(record)
  expect(await openPassphrase(PASSPHRASE, record)).toEqual(key)
  expect(await openPassphrase(`${PASSPHRASE}.`, record)).toBeUndefined()
})

test('a record with the cost of earlier backups opens', async () => {
  const cost = { N: 2 ** 16, r: 8, p: 2 }
  const salt = randomBytes(16)
  const key = scryptSync(PASSPHRASE, salt, 32, { ...cost, maxmem: 2 ** 28 })
  const check = Buffer.from(hkdfSync('sha256', key, salt, 'alcove backup passphrase check', 32)).toString('base64')
  const record = passphraseRecord.parse({ method: 'scrypt', ...cost, salt: salt.toString('base64'), check })
  expect(await openPassphrase(PASSPHRASE, record)).toEqual(key)
  expect(await openPassphrase(`${PASSPHRASE}.`, record)).toBeUndefined()
})

test('a record with a cheaper cost is refused', async () => {
  const { record } = await createPassphraseRecord(PASSPHRASE)
  expect(passphraseRecord.safeParse({ ...record, N: 2 ** 10 }).success).toBe(false)
})
