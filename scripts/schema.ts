/** Writes `server/database/schema.sql` from a freshly migrated database: `npm run schema`. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { createLog } from '#server/base/log.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import { migrate } from '#server/database/migrate.ts'
import { describeSchema } from '#server/database/describe-schema.ts'

const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-schema-'))
// The unprivileged user that PostgreSQL runs as must be able to enter it.
await chmod(dataDir, 0o711)
const embedded = await startEmbedded(dataDir, 'postgres-of-the-schema', createLog('warn'))
try {
  await migrate(embedded.admin, { authenticatorPassword: 'authenticator-of-the-schema' })
  const client = new pg.Client(embedded.admin)
  await client.connect()
  const file = path.join(import.meta.dirname, '../server/database/schema.sql')
  await writeFile(file, await describeSchema(client))
  await client.end()
} finally {
  await embedded.stop()
  await rm(dataDir, { recursive: true, force: true })
}
