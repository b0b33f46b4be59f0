/** The database and the secrets: our own PostgreSQL and a file beside it, or DATABASE_URL with the keys wrapped inside. */
import type pg from 'pg'
import {
  deriveAuthenticatorPassword,
  loadSecretsFromDatabase,
  loadSecretsFromFolder,
  type Secrets,
} from './access/secrets.ts'
import { type Log } from './base/log.ts'
import { type Config } from './config.ts'
import { startEmbedded } from './database/embedded.ts'
import { migrate } from './database/migrate.ts'

export /** Undoes the steps of a start, the last one first. */
type Undo = () => unknown

export interface Connections {
  /** A role that may migrate. */
  readonly admin: pg.ClientConfig
  /** The role that the server works as. */
  readonly server: pg.ClientConfig
  readonly secrets: Secrets
  readonly databaseAcceptedAfterMs: number
}

/** Connects, brings the database up to date, and notes in `undo` what is to be stopped in the end. */
export async function connect(
  config: Config,
  log: Log,
  undo: Undo[],
  onDatabaseDied: () => void,
): Promise<Connections> {
  if (config.DATABASE_URL !== undefined && config.ALCOVE_SECRET !== undefined) {
    const startedAt = performance.now()
    const admin = { connectionString: config.DATABASE_URL }
    const password = deriveAuthenticatorPassword(config.ALCOVE_SECRET)
    await migrate(admin, password)
    const secrets = await loadSecretsFromDatabase(admin, config.ALCOVE_SECRET)
    const url = new URL(config.DATABASE_URL)
    url.username = 'authenticator'
    url.password = password
    return {
      admin,
      server: { connectionString: url.href },
      secrets,
      databaseAcceptedAfterMs: performance.now() - startedAt,
    }
  }
  const secrets = await loadSecretsFromFolder(config.DATA_DIR)
  const embedded = await startEmbedded(config.DATA_DIR, secrets.databasePassword, log)
  undo.push(() => embedded.stop())
  void embedded.died.then(onDatabaseDied)
  await migrate(embedded.admin, secrets.authenticatorPassword)
  return {
    admin: embedded.admin,
    server: { ...embedded.admin, user: 'authenticator', password: secrets.authenticatorPassword },
    secrets,
    databaseAcceptedAfterMs: embedded.acceptedAfterMs,
  }
}
