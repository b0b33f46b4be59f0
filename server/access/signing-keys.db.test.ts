import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDatabase } from '#test/database.ts'
import {
  changeSecretsInDatabase,
  changeSecretsInFolder,
  loadSecretsFromDatabase,
  loadSecretsFromFolder,
  type Secrets,
} from './secrets.ts'
import { type KeyStep, stepSigningKeys } from './signing-keys.ts'
import { createTokens, type Tokens } from './tokens.ts'

const SECRET = 'what all servers of this database know'
const person = { role: 'authenticated', sub: '0b54b2a6-7d0b-4f7c-9b4d-6f1f6e7f2a11', exp: 4_000_000_000 }

const change = (step: KeyStep) => async (secrets: Secrets) => ({
  ...secrets,
  signingKeys: await stepSigningKeys(secrets.signingKeys, step),
})

interface Place {
  /** The tokens of a server that starts now. */
  readonly start: () => Promise<Tokens>
  readonly take: (step: KeyStep) => Promise<Secrets>
}

async function inFolder(): Promise<Place & { readonly folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return {
    folder,
    start: async () => createTokens(await loadSecretsFromFolder(folder)),
    take: (step) => changeSecretsInFolder(folder, change(step)),
  }
}

async function inDatabase(): Promise<Place> {
  const { adminConnection } = await temporaryDatabase()
  return {
    start: async () => createTokens(await loadSecretsFromDatabase(adminConnection, SECRET)),
    take: (step) => changeSecretsInDatabase(adminConnection, SECRET, change(step)),
  }
}

const believes = (tokens: Tokens, token: string) =>
  tokens.verify(token).then(
    () => true,
    () => false,
  )

test.each([
  ['a folder', inFolder],
  ['the database', inDatabase],
])('with keys in %s, a new one takes over and no server rejects a valid token', async (_, open) => {
  const { start, take } = await open()
  const first = await start()
  const old = await first.sign(person)
  await take('add')
  const second = await start()
  expect(second.jwks.keys).toHaveLength(2)
  expect(await believes(first, await second.sign(person))).toBe(true)
  await take('use')
  const third = await start()
  const fresh = await third.sign(person)
  expect([await believes(second, fresh), await believes(third, old), await believes(third, first.anonKey)]).toEqual([
    true,
    true,
    true,
  ])
  expect(await believes(first, fresh)).toBe(false)
  await take('retire')
  const fourth = await start()
  expect([await believes(fourth, fresh), await believes(fourth, old)]).toEqual([true, false])
  expect(fourth.jwks.keys).toEqual(third.jwks.keys.slice(0, 1))
})

test.each([
  ['a folder', inFolder],
  ['the database', inDatabase],
])('with keys in %s, a step out of order changes nothing', async (_, open) => {
  const { start, take } = await open()
  const before = await start()
  for (const step of ['use', 'retire'] as const) await expect(take(step)).rejects.toMatchObject({ code: 'conflict' })
  expect((await start()).jwks).toEqual(before.jwks)
  await take('add')
  const added = await start()
  await expect(take('add')).rejects.toMatchObject({ code: 'conflict' })
  expect((await start()).jwks).toEqual(added.jwks)
})

test('changed secrets keep their access rights', async () => {
  const { folder, start, take } = await inFolder()
  await start()
  await take('add')
  expect(await readdir(folder)).toEqual(['secrets.json'])
  expect((await stat(path.join(folder, 'secrets.json'))).mode & 0o777).toBe(0o600)
})

test('rejects a change without the secret of the servers', async () => {
  const { adminConnection } = await temporaryDatabase()
  const before = await loadSecretsFromDatabase(adminConnection, SECRET)
  await expect(changeSecretsInDatabase(adminConnection, 'another', change('add'))).rejects.toMatchObject({
    code: 'startup',
  })
  expect(await loadSecretsFromDatabase(adminConnection, SECRET)).toEqual(before)
})
