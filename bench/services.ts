/** A server of the four services alone, with its own table or bucket. */
import { SignJWT } from 'jose'
import pg from 'pg'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { connectionOf } from './connection-of.ts'

export const JWT_SECRET = 'the secret with which a figure signs tokens'

export interface Services {
  readonly alcove: AlcoveProcess
  readonly dataDir: string
  readonly anonKey: string
  readonly admin: pg.Client
  readonly close: () => Promise<void>
}

/** @param sql runs before the first client connects */
export async function openServices(sql: string): Promise<Services> {
  const { dataDir, remove } = await createDataDir()
  const alcove = await startAlcove({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    ALCOVE_PARTS: 'services',
    JWT_SECRET,
  })
  const { supabaseAnonKey } = await alcove.config()
  const admin = new pg.Client(await connectionOf(dataDir))
  await admin.connect()
  await admin.query(sql)
  return {
    alcove,
    dataDir,
    anonKey: supabaseAnonKey,
    admin,
    async close() {
      await admin.end()
      await alcove.end()
      await remove()
    },
  }
}

/** An access token for servers with `JWT_SECRET`; it needs no account. */
export const tokenOf = (sub: string): Promise<string> =>
  new SignJWT({ sub, role: 'authenticated' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(JWT_SECRET))
