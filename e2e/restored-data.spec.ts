/** A data folder as copies and backups leave it: other owners and modes, without empty folders, with stale files. */
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, readdir, rename, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDataDir, type Start, startAlcove, startRefusing } from '#test/alcove.ts'
import { createAccount, freshAddress, PASSWORD } from './people.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
const EMAIL = freshAddress('restored')

/** Whether another user can enter the checkout, to start the server in it. */
const isOpen = (folder: string): boolean =>
  (statSync(folder).mode & 0o001) !== 0 && (folder === path.dirname(folder) || isOpen(path.dirname(folder)))
const isCheckoutOpen = isOpen(import.meta.dirname)
if (!isCheckoutOpen) console.warn('Other users cannot enter the checkout: no server is started as one of them.')

let original: string
beforeAll(async () => {
  const folder = await createDataDir()
  const alcove = await startAlcove({ DATA_DIR: folder.dataDir, AUTH_AUTOCONFIRM: 'true' })
  await createAccount(alcove, EMAIL)
  await alcove.end()
  original = folder.dataDir
  return folder.remove
})

const modeOf = async (...file: string[]) => ((await lstat(path.join(...file))).mode & 0o777).toString(8)

/** A copy to damage. */
async function copy(): Promise<string> {
  const { dataDir, remove } = await createDataDir()
  onTestFinished(remove)
  await run('cp', ['-a', original, dataDir])
  return dataDir
}

async function removeEmptyFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptyFolders(path.join(folder, entry.name))
  }
  if ((await readdir(folder)).length === 0) await rmdir(folder)
}

/** Starts and reads what was in the database. */
async function expectRestored(dataDir: string, start?: Start): Promise<void> {
  const alcove = await startAlcove({ DATA_DIR: dataDir, AUTH_AUTOCONFIRM: 'true' }, start)
  try {
    const { supabaseAnonKey: apikey } = await alcove.config()
    const answer = await fetch(`${alcove.url}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      headers: { apikey, 'content-type': 'application/json' },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    })
    expect(answer.status).toBe(200)
  } finally {
    expect(await alcove.end()).toBe(0)
  }
}

test('as git leaves it: no empty folders, everything readable by all', async () => {
  const dataDir = await copy()
  await mkdir(path.join(dataDir, 'blobs', 'ab'), { recursive: true })
  await writeFile(path.join(dataDir, 'blobs', 'ab', 'file'), '')
  await removeEmptyFolders(dataDir)
  expect(await readdir(path.join(dataDir, 'postgres'))).not.toContain('pg_notify')
  await run('chmod', ['-R', 'a+rwX', dataDir])
  await expectRestored(dataDir)
  expect(await modeOf(dataDir)).toBe('755')
  expect(await modeOf(dataDir, 'secrets.json')).toBe('600')
  for (const folder of ['postgres', 'blobs', 'postgres/pg_notify']) expect(await modeOf(dataDir, folder)).toBe('700')
})

test('with stale files of another machine: pids of other programs, empty files for folders', async () => {
  const dataDir = await copy()
  const [pid, inPostgres] = [`${process.pid}\n`, path.join(dataDir, 'postgres')]
  await writeFile(path.join(inPostgres, 'postmaster.pid'), pid)
  await writeFile(path.join(dataDir, 'server.pid'), `${process.pid} 1`)
  await mkdir(path.join(dataDir, 'run'), { recursive: true })
  await chmod(path.join(dataDir, 'run'), 0o755)
  await writeFile(path.join(dataDir, 'run', '.s.PGSQL.5432.lock'), pid)
  for (const name of ['pg_twophase', 'pg_snapshots']) {
    await rm(path.join(inPostgres, name), { recursive: true })
    await writeFile(path.join(inPostgres, name), '')
  }
  await writeFile(path.join(dataDir, 'blobs'), '')
  await expectRestored(dataDir)
})

test('is refused in one sentence with the command where it is not plainly ours', async () => {
  const dataDir = await copy()
  const refusal = async () => {
    const { code, output } = await startRefusing({ DATA_DIR: dataDir })
    expect([code, output.trim().split('\n').length]).toEqual([1, 1])
    return output
  }
  await writeFile(path.join(dataDir, 'blobs'), 'something')
  expect(await refusal()).toContain(`run mv ${dataDir}/blobs ${dataDir}/blobs.old and start again.`)
  await rm(path.join(dataDir, 'blobs'))
  await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '12\n')
  expect(await refusal()).toMatch(/was written by PostgreSQL 12, but this Alcove has PostgreSQL \d\d:/)
  await rename(path.join(dataDir, 'secrets.json'), path.join(dataDir, 'elsewhere.json'))
  expect(await refusal()).toMatch(/secrets\.json" is missing, but the database next to it needs the keys in it\./)
  expect((await readdir(dataDir)).filter((name) => name.startsWith('secrets'))).toEqual([])
})

describe.runIf(isRoot)('as root', () => {
  const FOREIGN = 54_321

  test.each(['root:root', `${FOREIGN}:${FOREIGN}`])(
    'belonging to %s, as after a copy with its owners or without',
    async (owner) => {
      const dataDir = await copy()
      const outside = path.join(path.dirname(dataDir), 'outside')
      await mkdir(outside, { mode: 0o777 })
      await chown(outside, FOREIGN, FOREIGN)
      await chmod(outside, 0o777)
      await run('chown', ['-R', owner, dataDir])
      await symlink(outside, path.join(dataDir, 'postgres', 'base', 'link'))
      await chmod(dataDir, 0o777)
      await expectRestored(dataDir)
      expect((await stat(path.join(dataDir, 'secrets.json'))).uid).toBe(0)
      expect([(await stat(outside)).uid, await modeOf(outside)]).toEqual([FOREIGN, '777'])
    },
  )

  test('belonging to another account of this machine, is refused until the command was run', async () => {
    const dataDir = await copy()
    await run('chown', ['-R', 'nobody', dataDir])
    const { code, output } = await startRefusing({ DATA_DIR: dataDir })
    expect(code).toBe(1)
    const [, command = ''] = /run (chown -R \d+:\d+ \S+) and start again\.$/m.exec(output) ?? []
    expect(command).toContain(dataDir)
    await run('sh', ['-c', command])
    await expectRestored(dataDir)
  })

  test.skipIf(!isCheckoutOpen)('another user is told the command for a folder of root', async () => {
    const dataDir = await copy()
    await chmod(dataDir, 0o755)
    const asOther = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups']
    const refused = await startRefusing({ DATA_DIR: dataDir }, { under: asOther })
    expect(refused.output).toContain(`run sudo chown -R 54321:54321 ${dataDir} and start again.`)
    await run('chown', ['-R', '54321:54321', dataDir])
    await chmod(path.join(dataDir, 'postgres'), 0o755)
    await expectRestored(dataDir, { under: asOther })
  })
})
