/** Starts one PostgreSQL for a test run, with a migrated template that every test file copies. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { deriveAuthenticatorPassword } from '#server/access/secrets.ts'
import { createLog } from '#server/base/log.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import { migrate } from '#server/database/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: {
      host: string
      user: string
      password: string
      template: string
      authenticatorPassword: string
      secret: string
    }
  }
}

const TEMPLATE = 'alcove_template'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-test-'))
  await chmod(dataDir, 0o711)
  const password = 'postgres-of-the-tests'
  // All servers of the run share one secret, because the login role belongs to the cluster.
  const secret = 'a secret that all of the nodes share'
  const authenticatorPassword = deriveAuthenticatorPassword(secret)
  const embedded = await startEmbedded(dataDir, password, createLog('warn'))
  const client = new pg.Client({ ...embedded.admin, database: 'postgres' })
  await client.connect()
  await client.query(`alter system set fsync = off`)
  await client.query(`select pg_reload_conf()`)
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  await migrate({ ...embedded.admin, database: TEMPLATE }, { authenticatorPassword })
  project.provide('postgres', {
    host: String(embedded.admin.host),
    user: String(embedded.admin.user),
    password,
    template: TEMPLATE,
    authenticatorPassword,
    secret,
  })
  return async () => {
    await embedded.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
