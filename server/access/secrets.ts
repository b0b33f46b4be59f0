/** The secrets that the first start makes: kept in DATA_DIR, or wrapped in the database where several servers share one. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import pg from 'pg'
import { z } from 'zod'
import { AppError, codeOf } from '#server/base/errors.ts'
import { seal, unseal } from '#server/base/seal.ts'

const signingKey = z.looseObject({
  kty: z.literal('EC'),
  crv: z.string(),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
})

const secretsSchema = z.object({
  /** Passwords of the database's superuser (embedded only) and of the server's login role. */
  databasePassword: z.string().min(16),
  authenticatorPassword: z.string().min(16),
  /** AES-256 key for what people entrust to us, base64. */
  encryptionKey: z.base64(),
  /** Private ES256 keys as JWK, newest first: the first signs, all verify. */
  signingKeys: z.array(signingKey).min(1),
})
export type Secrets = z.infer<typeof secretsSchema>

const randomPassword = () => randomBytes(24).toString('base64url')

async function generateSecrets(): Promise<Secrets> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(privateKey)
  return secretsSchema.parse({
    databasePassword: randomPassword(),
    authenticatorPassword: randomPassword(),
    encryptionKey: randomBytes(32).toString('base64'),
    signingKeys: [{ ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' }],
  })
}

/** Reads `secrets.json` of the data folder, or makes it with mode 600; a crash in between leaves no half file. */
export async function loadSecretsFromFolder(dataDir: string): Promise<Secrets> {
  const file = path.join(dataDir, 'secrets.json')
  try {
    return secretsSchema.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') {
      throw new AppError(
        'startup',
        `"${file}" cannot be read as the secrets of this installation. Restore it from a backup; nothing was changed.`,
        { cause: error },
      )
    }
  }
  const secrets = await generateSecrets()
  const handle = await open(`${file}.unfinished`, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(secrets, null, 2))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.unfinished`, file)
  return secrets
}

const deriveKey = (secret: string, purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'alcove', purpose, 32))

/** The login role's password where servers share a database: every node derives the same one. */
export const deriveAuthenticatorPassword = (secret: string): string =>
  deriveKey(secret, 'authenticator password').toString('base64url')

/** The AES-256 key for what people entrust to us, where no database of ours holds one. */
export const deriveEncryptionKey = (secret: string): Buffer => deriveKey(secret, 'encryption key')

const wrappingKey = (secret: string): Buffer => deriveKey(secret, 'wrapped secrets')

/**
 * Reads the secrets that servers on one database share, or makes them on the first start of the first one.
 * @throws AppError `startup` where ALCOVE_SECRET is not the one that wrapped them.
 */
export async function loadSecretsFromDatabase(connection: pg.ClientConfig, secret: string): Promise<Secrets> {
  const fresh = { ...(await generateSecrets()), authenticatorPassword: deriveAuthenticatorPassword(secret) }
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(
      `insert into alcove.wrapped_secrets (name, wrapped) values ('secrets', $1) on conflict do nothing`,
      [seal(wrappingKey(secret), JSON.stringify(fresh))],
    )
    const stored = await client.query<{ wrapped: Buffer }>(
      `select wrapped from alcove.wrapped_secrets where name = 'secrets'`,
    )
    const wrapped = z.instanceof(Buffer).parse(stored.rows[0]?.wrapped)
    return secretsSchema.parse(JSON.parse(unseal(wrappingKey(secret), wrapped)))
  } catch (error) {
    throw new AppError('startup', 'ALCOVE_SECRET is not the one that the keys in this database were wrapped with.', {
      cause: error,
    })
  } finally {
    await client.end()
  }
}
