/** The log of the embedded PostgreSQL: what happens to the server, never a statement or a value. */
import { constants } from 'node:fs'
import { copyFile, type FileHandle, open, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Log } from '#server/base/log.ts'
import { repeat } from '#server/base/repeat.ts'

export const MAX_LOG_BYTES = 1024 * 1024
const CHECK_INTERVAL_MS = 5_000

/**
 * Set on the command line, which outranks configuration files. Errors of statements are not logged, since already the
 * message of an error may quote a value of any length; the sender of the statement receives them. In this setting LOG
 * ranks above ERROR.
 */
const SETTINGS = {
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '%m [%p] %b %e ',
  log_timezone: 'UTC',
  log_statement: 'none',
  log_duration: 'off',
  log_min_duration_statement: '-1',
  log_min_duration_sample: '-1',
  log_transaction_sample_rate: '0',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_lock_waits: 'off',
  log_temp_files: '-1',
  log_autovacuum_min_duration: '-1',
  log_checkpoints: 'off',
  log_replication_commands: 'off',
  debug_print_parse: 'off',
  debug_print_rewritten: 'off',
  debug_print_plan: 'off',
} as const

export const LOG_ARGUMENTS: readonly string[] = Object.entries(SETTINGS).flatMap(([name, value]) => [
  '-c',
  `${name}=${value}`,
])

/** Lines with this prefix were written under the settings above. */
const OUR_LINE = /^\d{4}-\d\d-\d\d [\d:.]+ UTC \[\d+\] [a-z][a-z ]* [0-9A-Z]{5} /

export const postgresLogIn = (dataDir: string): string => path.join(dataDir, 'postgres.log')

/** Opens for appending, without following a link; a log that an older version wrote is emptied, since it holds values. */
export async function openPostgresLog(dataDir: string): Promise<FileHandle> {
  const file = postgresLogIn(dataDir)
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const handle = await open(file, flags, 0o600)
  await handle.chmod(0o600)
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(200), 0, 200, 0)
  if (bytesRead > 0 && !OUR_LINE.test(buffer.toString('utf8', 0, bytesRead))) {
    await handle.truncate(0)
    await rm(`${file}.1`, { force: true })
  }
  return handle
}

/** Moves the log to `postgres.log.1` when it is full. PostgreSQL goes on with the same, emptied file. */
export async function rotatePostgresLog(dataDir: string, maxBytes = MAX_LOG_BYTES): Promise<void> {
  const file = postgresLogIn(dataDir)
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    if ((await handle.stat()).size <= maxBytes) return
    await rm(`${file}.1`, { force: true })
    await copyFile(file, `${file}.1`, constants.COPYFILE_EXCL)
    await handle.truncate(0)
  } finally {
    await handle.close()
  }
}

/** @returns ends the checks */
export function keepPostgresLogShort(dataDir: string, log: Log): () => void {
  const timer = repeat(() => {
    rotatePostgresLog(dataDir).catch((error: unknown) =>
      log.warn({ err: error }, 'the log of PostgreSQL is not rotated'),
    )
  }, CHECK_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}
