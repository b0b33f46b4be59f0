/** The command `operator`: a one-time link for an installation without an operator, such as one from before there were any. */
import pg from 'pg'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Config } from '#server/config.ts'
import { createOperatorLink, hasOperator } from '#server/operation/operators.ts'
import { openInstallation } from './open-installation.ts'

const addressOf = ({ PUBLIC_URL, HOST, PORT }: Config): string =>
  PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`

/** @throws AppError */
export async function createOperatorLinkByCommand(config: Config, log: Log): Promise<string> {
  if (config.SUPABASE_URL !== undefined)
    throw new AppError('startup', 'SUPABASE_URL is set: accounts are managed by that project.')
  const { connection, close } = await openInstallation({ config, log }, 'so there is nobody to operate it')
  try {
    const client = new pg.Client(connection)
    await client.connect()
    try {
      const { rows } = await client.query<{ is_old: boolean }>(
        `select to_regclass('public.operators') is null as is_old`,
      )
      if (rows[0]?.is_old !== false)
        throw new AppError(
          'startup',
          'Start the server of this version once before: it brings the database up to date.',
        )
      const run = (text: string, values?: unknown[]) => client.query(text, values)
      if (await hasOperator(run)) throw new AppError('conflict', 'This installation has an operator already.')
      return await createOperatorLink(run, addressOf(config))
    } finally {
      await client.end()
    }
  } finally {
    await close()
  }
}
