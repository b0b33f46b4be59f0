/**
 * Prints, for the operator, the two keys that no person has, as one JSON line; with `add`, `use` or `retire` after it has
 * changed the keys that tokens are signed with.
 */
import type pg from 'pg'
import {
  changeSecretsInDatabase,
  changeSecretsInFolder,
  loadSecretsFromDatabase,
  loadSecretsFromFolder,
  type Secrets,
} from '#server/access/secrets.ts'
import { keyStep, stepSigningKeys } from '#server/access/signing-keys.ts'
import { createTokens } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import { loadEnvironment, readConfig } from '#server/config.ts'
import { describeFailure } from './run-command.ts'

const { DATABASE_URL, ALCOVE_SECRET, DATA_DIR } = readConfig(loadEnvironment())
const shared =
  DATABASE_URL !== undefined && ALCOVE_SECRET !== undefined
    ? { connection: { connectionString: DATABASE_URL } satisfies pg.ClientConfig, secret: ALCOVE_SECRET }
    : undefined

const load = () =>
  shared ? loadSecretsFromDatabase(shared.connection, shared.secret) : loadSecretsFromFolder(DATA_DIR)

function takeStep(given: string): Promise<Secrets> {
  const step = keyStep.safeParse(given)
  if (!step.success) throw new AppError('bad_request', `"${given}" is none of ${keyStep.options.join(', ')}.`)
  const change = async (secrets: Secrets) => ({
    ...secrets,
    signingKeys: await stepSigningKeys(secrets.signingKeys, step.data),
  })
  return shared
    ? changeSecretsInDatabase(shared.connection, shared.secret, change)
    : changeSecretsInFolder(DATA_DIR, change)
}

const [step] = process.argv.slice(2)
try {
  const { anonKey, serviceRoleKey } = await createTokens(step === undefined ? await load() : await takeStep(step))
  console.log(JSON.stringify({ anonKey, serviceRoleKey }))
  if (step !== undefined) console.error('Start every server again before the next step.')
} catch (error) {
  console.error(describeFailure(error))
  process.exitCode = 1
}
