/** The storage service on a socket, with its own database and its own byte store: a folder or an S3 bucket. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { Hono } from 'hono'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens, type Tokens } from '#server/access/tokens.ts'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { createS3Store } from '#server/blobs/s3.ts'
import { withReusedBuffers } from '#server/blobs/send.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import type { Claims } from '#server/database/scope.ts'
import { removeDiscardedBytes } from '#server/storage/discarded-bytes.ts'
import { createStorageRoutes, type StorageOptions } from '#server/storage/routes.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { startFakeS3 } from './fake-s3.ts'

type StoreKind = 'disk' | 'S3'
let storeKind: StoreKind = 'disk'

/** Selects the byte store of services started afterwards. */
export function keepBytesIn(kind: StoreKind): void {
  storeKind = kind
}
export const bytesAreIn = (kind: StoreKind): boolean => storeKind === kind

export type StorageClient = SupabaseClient['storage']

export interface StorageTestService {
  readonly db: TestDatabase
  readonly tokens: Tokens
  readonly blobs: BlobStore
  /** Ends in `/storage/v1`. */
  readonly url: string
  headersOf(who?: Claims | 'service'): Promise<Record<string, string>>
  clientOf(who?: Claims | 'service'): Promise<StorageClient>
  /** Names of all stored files, finished or not, after discarded ones are removed. */
  files(): Promise<string[]>
  close(): Promise<void>
}

export async function startStorageService(options: Partial<StorageOptions> = {}): Promise<StorageTestService> {
  const db = await createTestDatabase()
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-storage-'))
  const tokens = await createTokens(await loadSecretsFromFolder(folder))
  const s3 = bytesAreIn('S3') ? await startFakeS3() : undefined
  const blobs = options.blobs ?? (s3 ? createS3Store(s3.options) : createDiskStore(folder))
  const log = createLog('silent')
  const routes = createStorageRoutes({
    database: db.database,
    background: db.background,
    tokens,
    accessWatch: { watch: () => () => undefined },
    blobs,
    log,
    signingKey: randomBytes(32),
    ...options,
  })
  const app = new Hono().route('/storage/v1', routes)
  const server = serve({ fetch: withReusedBuffers(app.fetch, log), port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`

  async function tokenOf(who?: Claims | 'service'): Promise<string> {
    if (who === undefined) return tokens.anonKey
    if (who === 'service') return tokens.serviceRoleKey
    const iat = Math.floor(Date.now() / 1000)
    return tokens.sign({ ...who, sub: who.sub ?? '', session_id: randomUUID(), iat, exp: iat + 3600 })
  }

  return {
    db,
    tokens,
    blobs,
    url: `${origin}/storage/v1`,
    headersOf: async (who) => ({ apikey: tokens.anonKey, authorization: `Bearer ${await tokenOf(who)}` }),
    async clientOf(who) {
      const token = await tokenOf(who)
      return createClient(origin, tokens.anonKey, { accessToken: async () => token }).storage
    },
    async files() {
      await removeDiscardedBytes(db.database, blobs)
      if (s3) return s3.keys()
      const entries = await readdir(path.join(folder, 'blobs'), { recursive: true, withFileTypes: true }).catch(
        () => [],
      )
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
    async close() {
      await new Promise((resolve) => server.close(resolve))
      await s3?.close()
      await db.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
