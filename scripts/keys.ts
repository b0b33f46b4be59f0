/** Prints, for the operator, the two keys that no person has, as one JSON line. */
import type pg from 'pg'
import { loadSecretsFromDatabase, loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens } from '#server/access/tokens.ts'
import { loadEnvironment, readConfig } from '#server/config.ts'

const { DATABASE_URL, ALCOVE_SECRET, DATA_DIR } = readConfig(loadEnvironment())
const secrets =
  DATABASE_URL !== undefined && ALCOVE_SECRET !== undefined
    ? await loadSecretsFromDatabase({ connectionString: DATABASE_URL } satisfies pg.ClientConfig, ALCOVE_SECRET)
    : await loadSecretsFromFolder(DATA_DIR)
const { anonKey, serviceRoleKey } = await createTokens(secrets)
console.log(JSON.stringify({ anonKey, serviceRoleKey }))
