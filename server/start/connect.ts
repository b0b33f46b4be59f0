/** Embedded PostgreSQL with a key file, DATABASE_URL with encrypted keys, or a Supabase project that has the keys. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import {
  deriveAuthenticatorPassword,
  deriveEncryptionKey,
  loadSecretsFromDatabase,
  loadSecretsFromFolder,
  rejectWrongSecret,
  type Secrets,
} from '#server/access/secrets.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Config } from '#server/config.ts'
import { locateBinaries, majorVersion } from '#server/database/binaries.ts'
import { clusterIn, readVersion } from '#server/database/cluster-folders.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import type { Listener } from '#server/database/listen.ts'
import { migrate, migrateAmongServers, requireKnownSchema } from '#server/database/migrate.ts'
import { rejectUnfinishedRestore } from '#server/backup/restore-place.ts'

export type Undo = () => unknown

const BYTES_PER_MB = 1_000_000

export interface Connections {
  /** Role for migrations. */
  readonly admin: pg.ClientConfig
  /** Role of the server. */
  readonly server: pg.ClientConfig
  /** Undefined if a Supabase project signs the tokens. */
  readonly secrets: Secrets | undefined
  readonly encryptionKey: Buffer
  readonly databaseAcceptedAfterMs: number
  /** To be called with the open listener, whose connection tells later versions from then on that this server runs. */
  readonly onListening: (listener: Listener) => Promise<void>
}

interface ConnectOptions {
  /** Called before the first wait for the database. */
  readonly onConnecting: () => void
  readonly onDatabaseDied: () => void
  /** Called when a later version has changed the database. */
  readonly onOutdated: (reason: string) => void
}

/** Adds steps to `undo` that stop what it starts. */
export async function connect(
  config: Config,
  log: Log,
  undo: Undo[],
  { onConnecting, onDatabaseDied, onOutdated }: ConnectOptions,
): Promise<Connections> {
  const hasProduct = config.ALCOVE_PARTS.has('api') || config.ALCOVE_PARTS.has('workers')
  const folders = hasProduct ? (['platform', 'product'] as const) : (['platform'] as const)
  if (config.DATABASE_URL !== undefined && config.ALCOVE_SECRET !== undefined) {
    const startedAt = performance.now()
    onConnecting()
    const admin = { connectionString: config.DATABASE_URL }
    const announcing = (endAnnouncement: () => Promise<void>) => async (listener: Listener) => {
      let checks = 0
      undo.push(() => (checks += 1))
      listener.onReconnect(() => {
        checks += 1
        const check = checks
        void endIfOutdated(admin, onOutdated, log, () => check === checks)
      })
      await endAnnouncement()
    }
    await rejectRoleBoundByRls(admin)
    await rejectUnfinishedRestore(admin)
    if (config.SUPABASE_URL !== undefined) {
      const endAnnouncement = await migrateAmongServers(admin, {
        folders: ['product'],
        authenticatorPassword: null,
        log,
      })
      undo.push(endAnnouncement)
      return {
        admin,
        // Turns JIT off, like `migrate`, but here: projects manage their own login roles.
        server: { ...admin, options: '-c jit=off' },
        secrets: undefined,
        encryptionKey: deriveEncryptionKey(config.ALCOVE_SECRET),
        databaseAcceptedAfterMs: performance.now() - startedAt,
        onListening: announcing(endAnnouncement),
      }
    }
    const authenticatorPassword = deriveAuthenticatorPassword(config.ALCOVE_SECRET)
    await rejectWrongSecret(admin, config.ALCOVE_SECRET)
    const endAnnouncement = await migrateAmongServers(admin, { folders, authenticatorPassword, log })
    undo.push(endAnnouncement)
    const secrets = await loadSecretsFromDatabase(admin, config.ALCOVE_SECRET)
    const url = new URL(config.DATABASE_URL)
    url.username = 'authenticator'
    url.password = authenticatorPassword
    return {
      admin,
      server: { connectionString: url.href },
      secrets,
      encryptionKey: Buffer.from(secrets.encryptionKey, 'base64'),
      databaseAcceptedAfterMs: performance.now() - startedAt,
      onListening: announcing(endAnnouncement),
    }
  }
  const secrets = await loadSecretsFromFolder(config.DATA_DIR)
  await upgradeDatabase(config, secrets, log)
  const embedded = await startEmbedded(config.DATA_DIR, secrets.databasePassword, log, onConnecting)
  undo.push(() => embedded.stop())
  void embedded.died.then(onDatabaseDied)
  await migrate(embedded.admin, { folders, authenticatorPassword: secrets.authenticatorPassword, log })
  return {
    admin: embedded.admin,
    server: { ...embedded.admin, user: 'authenticator', password: secrets.authenticatorPassword },
    secrets,
    encryptionKey: Buffer.from(secrets.encryptionKey, 'base64'),
    databaseAcceptedAfterMs: embedded.acceptedAfterMs,
    // A data folder has one server.
    onListening: async () => undefined,
  }
}

const CHECK_AGAIN_MS = 5_000

/**
 * While the listening connection was lost, a later version saw no server, and may have changed the database. Where that
 * cannot be read, it is read again until it can, the next reconnect, or the stop.
 */
async function endIfOutdated(
  admin: pg.ClientConfig,
  onOutdated: (reason: string) => void,
  log: Log,
  isLatest: () => boolean,
): Promise<void> {
  while (isLatest()) {
    try {
      await requireKnownSchema(admin)
      return
    } catch (error) {
      if (!isLatest()) return
      if (error instanceof AppError && error.code === 'startup') {
        onOutdated(error.message)
        return
      }
      log.warn({ err: error }, 'whether a later version has changed the database could not be read yet')
    }
    await delay(CHECK_AGAIN_MS, undefined, { ref: false })
  }
}

/** Only an older version of the database loads what takes it over. */
async function upgradeDatabase(
  { DATA_DIR: dataDir, DISK_MARGIN_MB }: Config,
  secrets: Secrets,
  log: Log,
): Promise<void> {
  const written = readVersion(clusterIn(dataDir))
  if (written === undefined || written === (await majorVersion(await locateBinaries(dataDir)))) return
  const { upgradeCluster } = await import('#server/backup/upgrade-cluster.ts')
  await upgradeCluster({ dataDir, secrets, marginBytes: DISK_MARGIN_MB * BYTES_PER_MB, log })
}

/** Row-level security is forced on owners too, so a role bound by it could not read its own rows. */
export async function rejectRoleBoundByRls(admin: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(admin)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; isFree: boolean }>(
      `select current_user as name, rolsuper or rolbypassrls as "isFree" from pg_roles where rolname = current_user`,
    )
    if (rows[0]?.isFree) return
    throw new AppError(
      'startup',
      `DATABASE_URL names the role "${rows[0]?.name ?? ''}", which row-level security binds, but it wants a superuser or a role with CREATEROLE and BYPASSRLS.`,
    )
  } finally {
    await client.end()
  }
}
