/** Generated at the first start and stored in DATA_DIR, or encrypted in a shared database. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import { decrypt, encrypt } from '#server/base/encrypt.ts'
import { AppError, codeOf } from '#server/base/errors.ts'
import { NotPrivateError, readPrivateFile } from '#server/base/private-files.ts'
import { findEntry } from '#server/database/restore-cluster.ts'
import { generateSigningKey, signingKey } from './signing-keys.ts'

const secretsSchema = z.object({
  databasePassword: z.string().min(16),
  authenticatorPassword: z.string().min(16),
  /** AES-256 key for secrets of people. */
  encryptionKey: z.base64(),
  /** The first one signs; all verify. */
  signingKeys: z.array(signingKey).min(1).readonly(),
})
export type Secrets = z.infer<typeof secretsSchema>
type Change = (secrets: Secrets) => Promise<Secrets>

const randomPassword = () => randomBytes(24).toString('base64url')

async function generateSecrets(): Promise<Secrets> {
  return {
    databasePassword: randomPassword(),
    authenticatorPassword: randomPassword(),
    encryptionKey: randomBytes(32).toString('base64'),
    signingKeys: [await generateSigningKey()],
  }
}

const fileIn = (dataDir: string) => path.join(dataDir, 'secrets.json')

/** Mode 600, and atomic: a crash leaves no partial file. */
async function writeSecrets(file: string, secrets: Secrets): Promise<Secrets> {
  await rm(`${file}.unfinished`, { force: true })
  const handle = await open(`${file}.unfinished`, 'wx', 0o600)
  try {
    await handle.writeFile(JSON.stringify(secrets, null, 2))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.unfinished`, file)
  return secrets
}

export async function loadSecretsFromFolder(dataDir: string): Promise<Secrets> {
  const file = fileIn(dataDir)
  try {
    return secretsSchema.parse(JSON.parse(await readPrivateFile(file)))
  } catch (error) {
    if (error instanceof NotPrivateError)
      throw new AppError(
        'startup',
        `The secrets of this installation cannot be used: ${error.message}${error.command === undefined ? '' : `; run ${error.command} and start again`}.`,
        { cause: error },
      )
    if (codeOf(error) !== 'ENOENT') {
      throw new AppError(
        'startup',
        `"${file}" cannot be read as the secrets of this installation. Restore it from a backup; nothing was changed.`,
        { cause: error },
      )
    }
  }
  // A folder that cannot be entered, or a link to nothing, is a database too.
  if (findEntry(path.join(dataDir, 'postgres')) !== undefined) {
    throw new AppError(
      'startup',
      `"${file}" is missing, but the database next to it needs the keys in it. Restore it from a backup; nothing was changed.`,
    )
  }
  return writeSecrets(file, await generateSecrets())
}

export async function changeSecretsInFolder(dataDir: string, change: Change): Promise<Secrets> {
  return writeSecrets(fileIn(dataDir), await change(await loadSecretsFromFolder(dataDir)))
}

export const parseSecrets = (json: string): Secrets => secretsSchema.parse(JSON.parse(json))

/** For a folder that is being restored. */
export const restoreSecretsInFolder = (dataDir: string, secrets: Secrets): Promise<Secrets> =>
  writeSecrets(fileIn(dataDir), secrets)

const deriveKey = (secret: string, purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'alcove', purpose, 32))

export const deriveAuthenticatorPassword = (secret: string): string =>
  deriveKey(secret, 'authenticator password').toString('base64url')

export const deriveEncryptionKey = (secret: string): Buffer => deriveKey(secret, 'encryption key')

const wrappingKey = (secret: string): Buffer => deriveKey(secret, 'wrapped secrets')

async function onConnection<T>(connection: pg.ClientConfig, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

async function readWrapped(client: pg.Client, secret: string): Promise<Secrets> {
  try {
    const stored = await client.query<{ wrapped: Buffer }>(
      `select wrapped from alcove.wrapped_secrets where name = 'secrets' for update`,
    )
    const wrapped = z.instanceof(Buffer).parse(stored.rows[0]?.wrapped)
    return secretsSchema.parse(JSON.parse(decrypt(wrappingKey(secret), wrapped)))
  } catch (error) {
    throw new AppError('startup', 'ALCOVE_SECRET is not the one that the keys in this database were wrapped with.', {
      cause: error,
    })
  }
}

/** Before anything is changed in a database: a wrong secret would set another password for the servers' role. */
export async function rejectWrongSecret(connection: pg.ClientConfig, secret: string): Promise<void> {
  await onConnection(connection, async (client) => {
    const { rows } = await client.query<{ exists: boolean }>(
      `select to_regclass('alcove.wrapped_secrets') is not null as exists`,
    )
    if (!rows[0]?.exists) return
    const { rowCount } = await client.query(`select from alcove.wrapped_secrets where name = 'secrets'`)
    if (rowCount === 1) await readWrapped(client, secret)
  })
}

/** @throws AppError `startup` if ALCOVE_SECRET cannot decrypt the secrets */
export async function loadSecretsFromDatabase(connection: pg.ClientConfig, secret: string): Promise<Secrets> {
  const fresh = { ...(await generateSecrets()), authenticatorPassword: deriveAuthenticatorPassword(secret) }
  return onConnection(connection, async (client) => {
    await client.query(
      `insert into alcove.wrapped_secrets (name, wrapped) values ('secrets', $1) on conflict do nothing`,
      [encrypt(wrappingKey(secret), JSON.stringify(fresh))],
    )
    return readWrapped(client, secret)
  })
}

/** For a database that is being restored: what its backup had wrapped stays where ALCOVE_SECRET can decrypt it. */
export async function restoreSecretsInDatabase(
  connection: pg.ClientConfig,
  secret: string,
  secrets: Secrets,
): Promise<void> {
  await onConnection(connection, async (client) => {
    const isWrapped = await readWrapped(client, secret).then(
      ({ encryptionKey }) => encryptionKey === secrets.encryptionKey,
      () => false,
    )
    if (isWrapped) return
    const wrapped = { ...secrets, authenticatorPassword: deriveAuthenticatorPassword(secret) }
    await client.query(
      `insert into alcove.wrapped_secrets (name, wrapped) values ('secrets', $1)
       on conflict (name) do update set wrapped = excluded.wrapped`,
      [encrypt(wrappingKey(secret), JSON.stringify(wrapped))],
    )
  })
}

export async function changeSecretsInDatabase(
  connection: pg.ClientConfig,
  secret: string,
  change: Change,
): Promise<Secrets> {
  return onConnection(connection, async (client) => {
    await client.query('begin')
    const changed = await change(await readWrapped(client, secret))
    await client.query(`update alcove.wrapped_secrets set wrapped = $1 where name = 'secrets'`, [
      encrypt(wrappingKey(secret), JSON.stringify(changed)),
    ])
    await client.query('commit')
    return changed
  })
}
