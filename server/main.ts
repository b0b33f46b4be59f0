/** Entry point: starts the server, prints its address, and drains on SIGTERM and SIGINT. */
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { containUncaughtErrors } from './base/contain-errors.ts'
import { AppError, codeOf, messageOf } from './base/errors.ts'
import { createLog } from './base/log.ts'
import { loadEnvironment, readConfig } from './config.ts'
import { startAlcove } from './start/start.ts'

/** A longer drain is aborted, which the database survives like a power cut. */
const DRAIN_LIMIT_MS = 9_000

async function main(): Promise<void> {
  const config = readConfig(loadEnvironment())
  const log = createLog(config.LOG_LEVEL)
  const isDevelopment = process.argv.includes('--dev')
  const starting = startAlcove(config, log, {
    isDevelopment,
    onDatabaseDied() {
      log.fatal('PostgreSQL ended unexpectedly; start again')
      process.exitCode = 1
      process.exit()
    },
    onOutdated(reason) {
      log.fatal(reason)
      drain('a later version has changed the database', 1)
    },
  })

  const stopping = new AbortController()
  const drain = (reason: string, exitCode = 0) => {
    if (stopping.signal.aborted) return
    stopping.abort()
    log.info({ reason }, 'stopping')
    setTimeout(() => {
      log.error('the drain took too long and was broken off')
      process.exit(1)
    }, DRAIN_LIMIT_MS).unref()
    // The start must finish first: aborted, it would leave PostgreSQL running.
    starting
      .then((alcove) => alcove.stop())
      .then(
        () => process.exit(exitCode),
        (error: unknown) => {
          log.error({ err: error }, 'the drain failed')
          process.exit(1)
        },
      )
  }
  process.on('SIGTERM', () => drain('SIGTERM'))
  process.on('SIGINT', () => drain('SIGINT'))
  containUncaughtErrors(log, () => drain('an uncaught error', 1))

  const { address, testAccount, operatorLink } = await starting
  if (stopping.signal.aborted) return
  const howToSignIn = testAccount ? ` (sign in with "Use test account": ${testAccount.email})` : ''
  console.log(`${PRODUCT_NAME} is ready at ${address}${howToSignIn}`)
  if (operatorLink !== undefined)
    console.log(
      `There is no account yet. Who signs up with this link, once and within a day, is the operator: ${operatorLink}`,
    )
}

/** A sentence for failures that an operator can fix; otherwise the error itself. */
function describeFailure(error: unknown): unknown {
  if (error instanceof AppError && error.code === 'startup') return error.message
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === '53100')
    return 'The disk that holds DATA_DIR is full; nothing was damaged. Make room, then start again.'
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === '28P01' || code === '3D000') {
    return `DATABASE_URL names a database that cannot be connected to: ${messageOf(error)}.`
  }
  return error
}

main().catch((error: unknown) => {
  console.error(describeFailure(error))
  process.exit(1)
})
