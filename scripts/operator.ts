/** `npm run -s operator`, as a package `alcove operator`: prints a one-time link for the operator, where an installation has none yet. */
import { createOperatorLinkByCommand } from '#server/start/operator-command.ts'
import { createLog } from '#server/base/log.ts'
import { AppError } from '#server/base/errors.ts'
import { loadEnvironment, readConfig } from '#server/config.ts'

try {
  console.log(await createOperatorLinkByCommand(readConfig(loadEnvironment()), createLog('error')))
} catch (error) {
  if (!(error instanceof AppError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
