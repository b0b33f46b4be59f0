import { chmodSync, chownSync, linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { restoreCluster } from './restore-cluster.ts'

const isRoot = process.getuid?.() === 0
const FOREIGN = 54_321
const owner = isRoot ? { uid: 12_345, gid: 12_345 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

let dataDir: string
let clusterDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "alcove-restored folder's-"))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  clusterDir = path.join(dataDir, 'postgres')
  for (const folder of ['global', 'base/1', 'pg_wal']) mkdirSync(path.join(clusterDir, folder), { recursive: true })
  for (const file of ['PG_VERSION', 'global/pg_control', 'base/1/1']) writeFileSync(path.join(clusterDir, file), '18\n')
})

const restore = () => restoreCluster({ clusterDir, owner, version: '18', log: createLog('silent') })
const seen = (...file: string[]) => {
  const { mode, uid } = lstatSync(path.join(clusterDir, ...file))
  return [uid, (mode & 0o777).toString(8)]
}

test('modes and empty folders are set right, and files where an empty folder was', () => {
  chmodSync(clusterDir, 0o777)
  chmodSync(path.join(clusterDir, 'base'), 0o500)
  chmodSync(path.join(clusterDir, 'base/1/1'), 0o444)
  writeFileSync(path.join(clusterDir, 'pg_notify'), '')
  restore()
  expect([seen(), seen('base'), seen('base/1/1')]).toEqual([
    [owner.uid, '700'],
    [owner.uid, '700'],
    [owner.uid, '644'],
  ])
  const folders = [
    'pg_notify',
    'pg_tblspc',
    'pg_replslot',
    'pg_wal/archive_status',
    'pg_logical/snapshots',
    'pg_twophase',
  ]
  for (const folder of folders) expect(seen(folder), folder).toEqual([owner.uid, '700'])
  restore()
})

test('a group that makes backups may read on', () => {
  chmodSync(clusterDir, 0o750)
  restore()
  expect(seen()[1]).toBe('750')
})

test('a folder without PG_VERSION, of another version, or a file in its place is refused with a command, and left alone', async () => {
  chmodSync(clusterDir, 0o755)
  const moved = /run mv '[^ ]+ folder'\\''s-\w+\/postgres' '[^ ]+ folder'\\''s-\w+\/postgres\.old'/
  const refused = (sentence: RegExp, command = moved) => {
    expect(restore).toThrow(sentence)
    expect(restore).toThrow(command)
    expect((lstatSync(clusterDir).mode & 0o777).toString(8)).toBe('755')
  }
  writeFileSync(path.join(clusterDir, 'PG_VERSION'), '16\n')
  refused(
    /was written by PostgreSQL 16, but this Alcove has PostgreSQL 18: start the Alcove that wrote it, make a backup with it, and restore that/,
    /after mv '[^ ]+ folder'\\''s-\w+' '[^ ]+ folder'\\''s-\w+\.old'\. Nothing/,
  )
  await rm(path.join(clusterDir, 'PG_VERSION'))
  refused(/holds no database, since its file PG_VERSION is missing/)
  await rm(clusterDir, { recursive: true })
  writeFileSync(clusterDir, '', { mode: 0o755 })
  refused(/is not a folder, but the database belongs into one/)
})

test('a file with content where a folder belongs is refused', () => {
  writeFileSync(path.join(clusterDir, 'pg_tblspc'), 'something')
  expect(restore).toThrow(/pg_tblspc" is not a folder, as the database needs there: run mv .* and start again\.$/)
})

test('links are not followed', async () => {
  const outside = path.join(dataDir, 'outside')
  mkdirSync(outside, { mode: 0o755 })
  writeFileSync(path.join(outside, 'file'), '', { mode: 0o444 })
  symlinkSync(outside, path.join(clusterDir, 'pg_tblspc'))
  symlinkSync(path.join(outside, 'file'), path.join(clusterDir, 'base/1/2'))
  const stateOf = () => [outside, path.join(outside, 'file')].map((file) => [lstatSync(file).mode, lstatSync(file).uid])
  const before = stateOf()
  restore()
  expect(stateOf()).toEqual(before)
  await rm(clusterDir, { recursive: true })
  symlinkSync(outside, clusterDir)
  restore()
  expect(stateOf()).toEqual(before)
  await rm(outside, { recursive: true })
  expect(restore).toThrow(/postgres" is a link to nothing/)
})

describe.runIf(isRoot)('as root', () => {
  test('files of any user become those of PostgreSQL, in a folder that only root can exchange', () => {
    chownSync(clusterDir, FOREIGN, FOREIGN)
    chownSync(path.join(clusterDir, 'base/1/1'), FOREIGN, FOREIGN)
    restore()
    expect([seen()[0], seen('base/1/1')[0], seen('global/pg_control')[0]]).toEqual([12_345, 12_345, 12_345])
  })

  test('a file that has another name elsewhere is left alone', () => {
    const elsewhere = path.join(dataDir, 'of-the-system')
    writeFileSync(elsewhere, '')
    linkSync(elsewhere, path.join(clusterDir, 'base/1/3'))
    expect(restore).toThrow(/base\/1\/3" belongs to the user 0/)
    expect(lstatSync(elsewhere).uid).toBe(0)
  })

  test('a folder that somebody else could exchange is refused with the command', () => {
    chownSync(dataDir, FOREIGN, FOREIGN)
    expect(restore).toThrow(/if the folder is yours, run chown -R 12345:12345 '.*\/postgres' and start again\.$/)
    expect(seen()[0]).toBe(0)
  })
})
