import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type pg from 'pg'
import { z } from 'zod'

const secrets = z.object({ databasePassword: z.string() })

export async function connectionOf(dataDir: string): Promise<pg.ClientConfig> {
  const { databasePassword } = secrets.parse(JSON.parse(await readFile(path.join(dataDir, 'secrets.json'), 'utf8')))
  return { host: path.join(dataDir, 'run'), user: 'postgres', password: databasePassword, database: 'alcove' }
}
