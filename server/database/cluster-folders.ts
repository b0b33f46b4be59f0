/**
 * Folders of the embedded database in DATA_DIR. While another major version takes a database over, it fills `postgres.upgrading`;
 * complete, that is `postgres.upgraded`, and takes the place of `postgres`, which stays as `postgres.before-<version>`.
 */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { findEntry } from './restore-cluster.ts'

export const clusterIn = (dataDir: string): string => path.join(dataDir, 'postgres')
export const upgradingOf = (clusterDir: string): string => `${clusterDir}.upgrading`
export const upgradedOf = (clusterDir: string): string => `${clusterDir}.upgraded`
export const formerOf = (clusterDir: string, major: string): string => `${clusterDir}.before-${major}`

/** @returns undefined where the folder is missing, is a link, or names no version */
export function readVersion(clusterDir: string): string | undefined {
  if (findEntry(clusterDir)?.isDirectory() !== true) return undefined
  try {
    return readFileSync(path.join(clusterDir, 'PG_VERSION'), 'utf8').trim()
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EISDIR'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** The new name is on the disk before anything else changes. */
function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  const folder = openSync(path.dirname(to), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Exchanges the database for the one in `postgres.upgrading`, which is complete and stopped. */
export function exchangeClusters(clusterDir: string, major: string): void {
  // The operator may have put a former database with a mark back.
  rmSync(path.join(clusterDir, REPLACED), { force: true })
  renameDurably(upgradingOf(clusterDir), upgradedOf(clusterDir))
  renameDurably(clusterDir, formerOf(clusterDir, major))
  finishExchange(clusterDir)
}

/** Ends an exchange that was cut off where neither the old nor the new database had its place. */
export function finishExchange(clusterDir: string): void {
  if (findEntry(clusterDir) !== undefined || findEntry(upgradedOf(clusterDir)) === undefined) return
  renameDurably(upgradedOf(clusterDir), clusterDir)
}

/** File in a former database: a start has succeeded since with the one that replaced it. */
const REPLACED = 'replaced'

function listFormer(dataDir: string): string[] {
  // The exchange that made them was cut off: its database has not been started yet.
  if (findEntry(clusterIn(dataDir)) === undefined) return []
  return readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^postgres\.before-\d+$/.test(entry.name))
    .map(({ name }) => path.join(dataDir, name))
}

/** @returns the former databases whose successor an earlier start has used with success */
export const listReplaced = (dataDir: string): string[] =>
  listFormer(dataDir).filter((folder) => findEntry(path.join(folder, REPLACED)) !== undefined)

/** Ends a start that succeeded: marks the other former databases, and removes these. A later start ends a removal that is killed. */
export async function removeReplaced(dataDir: string, replaced: readonly string[], log: Log): Promise<void> {
  for (const folder of listFormer(dataDir)) {
    try {
      if (!replaced.includes(folder)) {
        await writeFile(path.join(folder, REPLACED), '')
        continue
      }
      await rm(folder, { recursive: true, force: true })
      log.info({ folder }, 'removed the database from before the upgrade of PostgreSQL')
    } catch (error) {
      log.warn({ folder, err: error }, 'the database from before the upgrade of PostgreSQL is not removed')
    }
  }
}
