/** Runs a command over the settings of the server that takes one address and ends with one line of JSON. */
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import { createLog, type Log } from '#server/base/log.ts'
import { type Config, loadEnvironment, readConfig } from '#server/config.ts'
import { exitCodeOf } from '#server/start/backup-commands.ts'
import { readProductVersion } from '#server/start/product-version.ts'

interface Context {
  readonly config: Config
  readonly log: Log
  readonly progress: (sentence: string) => void
  readonly version: string
}

/** A sentence for failures that an operator can fix; otherwise the error itself. */
export function describeFailure(error: unknown): unknown {
  if (error instanceof AppError) return error.message
  const code = codeOf(error)
  if (code === 'ENOSPC' || code === '53100') return 'The disk is full; make room, then run it again.'
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `This user may not read or write there: ${messageOf(error)}.`
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === '28P01' || code === '3D000')
    return `A database or store cannot be connected to: ${messageOf(error)}.`
  return error
}

export async function runCommand(
  name: string,
  wants: string,
  run: (address: string, context: Context) => Promise<object>,
): Promise<void> {
  const [address, ...more] = process.argv.slice(2)
  // An orderly exit stops the database that the command has started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  try {
    if (address === undefined || more.length > 0)
      throw new AppError('bad_request', `The command ${name} wants one argument: ${wants}.`)
    const config = readConfig(loadEnvironment())
    // Sentences of the command tell the operator everything else.
    const log = createLog(config.LOG_LEVEL === 'debug' ? 'debug' : 'error')
    const progress = (sentence: string) => console.error(sentence)
    console.log(JSON.stringify(await run(address, { config, log, progress, version: await readProductVersion() })))
  } catch (error) {
    console.error(describeFailure(error))
    process.exitCode = exitCodeOf(error)
  }
}
