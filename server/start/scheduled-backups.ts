/** Makes a backup whenever the newest one in BACKUP_TARGET is older than BACKUP_INTERVAL_HOURS. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { listBackups, timeOfBackup } from '#server/backup/manifest.ts'
import { messageOf } from '#server/base/errors.ts'
import { repeat } from '#server/base/repeat.ts'
import { loadEnvironment } from '#server/config.ts'
import type { ReadBackupState } from '#server/operation/installation.ts'
import type { Gauges } from '#server/telemetry/gauges.ts'
import type { Foundation } from './foundation.ts'
import { EXIT_ANOTHER_RUNS } from './backup-commands.ts'
import { openBackups } from './open-backups.ts'

const COMMAND = fileURLToPath(new URL('../../scripts/backup.ts', import.meta.url))
const CHECK_INTERVAL_MS = 60_000
const RETRY_AFTER_MS = 15 * 60_000
const HOUR_MS = 60 * 60_000

const summarySchema = z.looseObject({ backup: z.string(), bytes: z.number(), seconds: z.number() })

export interface ScheduledBackups {
  readonly gauges: Gauges
  readonly readState: ReadBackupState
}

/** @returns the state of the newest backup; undefined without BACKUP_TARGET @throws AppError `startup` */
export async function scheduleBackups({
  config,
  log,
  undo,
}: Pick<Foundation, 'config' | 'log' | 'undo'>): Promise<ScheduledBackups | undefined> {
  const address = config.BACKUP_TARGET
  if (address === undefined) return undefined
  const target = await openBackups(address, config)
  const stopping = new AbortController()
  let newestAt = -Infinity
  let retryAt = -Infinity
  let hasFailed = false
  let last = { bytes: 0, seconds: 0 }
  let running: Promise<void> | undefined

  /** A process of its own, of lower priority, so that answers do not wait for compression and hashes. */
  async function runCommand(): Promise<void> {
    const child = spawn(process.execPath, ['--max-semi-space-size=2', COMMAND, address ?? ''], {
      // As the command `backup` sets them: freed memory goes back to the system.
      env: { ...loadEnvironment(), MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: stopping.signal,
    })
    const ended = once(child, 'close')
    const [output, sentences] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    if (child.exitCode === EXIT_ANOTHER_RUNS) return log.info('another server makes the scheduled backup')
    if (child.exitCode !== 0) throw new Error(sentences.trim().split('\n').at(-1) ?? 'it ended without a reason')
    const summary = summarySchema.parse(JSON.parse(output))
    last = summary
    newestAt = Date.now() - summary.seconds * 1000
    hasFailed = false
    log.info(summary, 'a backup was made and read back')
  }

  async function check(): Promise<void> {
    const newest = (await listBackups({ target })).at(-1)
    if (newest !== undefined) newestAt = timeOfBackup(newest)
    const now = Date.now()
    if (now - newestAt < config.BACKUP_INTERVAL_HOURS * HOUR_MS) {
      // Another server may have made it.
      hasFailed = false
      return
    }
    if (now < retryAt) return
    retryAt = now + RETRY_AFTER_MS
    await runCommand()
  }

  const checkAlone = () => {
    running ??= check()
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return
        hasFailed = true
        log.error({ reason: messageOf(error) }, 'the scheduled backup failed')
      })
      .finally(() => {
        running = undefined
      })
  }
  const timer = repeat(checkAlone, CHECK_INTERVAL_MS)
  checkAlone()
  undo.push(async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  })

  const readState = () => ({ ageS: (Date.now() - newestAt) / 1000, hasFailed })
  const gauges: Gauges = {
    alcove_backup_age_seconds: {
      help: 'Seconds since the newest backup in BACKUP_TARGET began; +Inf without one.',
      read: () => readState().ageS,
    },
    alcove_backup_failed: {
      help: '1 if the last scheduled backup of this process failed, else 0.',
      read: () => Number(hasFailed),
    },
    alcove_backup_bytes: { help: 'Bytes of the last backup that this process made.', read: () => last.bytes },
    alcove_backup_seconds: { help: 'Seconds that the last backup of this process took.', read: () => last.seconds },
  }
  return { gauges, readState }
}
