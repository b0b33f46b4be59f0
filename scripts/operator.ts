/** `npm run -s operator`, as a package `alcove operator`: prints a one-time link for the operator, where an installation has none yet. */
import { createLog } from '#server/base/log.ts'
import { loadEnvironment, readConfig } from '#server/config.ts'
import { createOperatorLinkByCommand } from '#server/start/operator-command.ts'
import { describeFailure } from './run-command.ts'

try {
  console.log(await createOperatorLinkByCommand(readConfig(loadEnvironment()), createLog('error')))
} catch (error) {
  console.error(describeFailure(error))
  process.exitCode = 1
}
