import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, mkdtemp, readdir, readlink, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { startEmbedded } from './embedded.ts'

const PASSWORD = 'postgres-of-this-test'

let parent: string
let dataDir: string
/** In the temporary folder, since the path below DATA_DIR is too long for a socket. */
let socketFolder: string
const lines: string[] = []
const log = createLog('warn', { write: (line) => void lines.push(line) })

beforeAll(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'alcove-long-'))
  await chmod(parent, 0o711)
  dataDir = path.join(parent, 'a-long-name-'.repeat(8))
  await mkdir(dataDir, { mode: 0o711 })
  const name = `alcove-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  socketFolder = path.join(tmpdir(), name)
})
afterAll(async () => {
  await rm(socketFolder, { recursive: true, force: true })
  await rm(parent, { recursive: true, force: true })
})

async function startAndAsk(): Promise<{ folder: string; mode: number; isLink: boolean }> {
  const database = await startEmbedded(dataDir, PASSWORD, log)
  try {
    const client = new pg.Client(database.admin)
    await client.connect()
    await client.query('select')
    await client.end()
    const folder = String(database.admin.host)
    return { folder, mode: (await stat(folder)).mode & 0o777, isLink: (await lstat(folder)).isSymbolicLink() }
  } finally {
    await database.stop()
  }
}

test('the socket is in a private folder with a fixed name, which is removed at the end', async () => {
  expect(await startAndAsk()).toEqual({ folder: socketFolder, mode: 0o700, isLink: false })
  await expect(stat(socketFolder)).rejects.toThrow('ENOENT')
  expect(lines).toEqual([])
})

test('where another user has put a link or an open folder, the socket is in a new one, and theirs is left alone', async () => {
  const theirs = path.join(parent, 'theirs')
  await mkdir(theirs, { mode: 0o755 })
  await symlink(theirs, socketFolder)
  const besideLink = await startAndAsk()
  expect(besideLink).toMatchObject({ mode: 0o700, isLink: false })
  expect(besideLink.folder).not.toBe(socketFolder)
  expect(await readlink(socketFolder)).toBe(theirs)
  expect(await readdir(theirs)).toEqual([])
  expect((await stat(theirs)).uid).toBe(process.getuid?.())

  await rm(socketFolder)
  await mkdir(socketFolder)
  await chmod(socketFolder, 0o777)
  const besideOpen = await startAndAsk()
  expect(besideOpen.mode).toBe(0o700)
  expect(besideOpen.folder).not.toBe(socketFolder)
  expect(await readdir(socketFolder)).toEqual([])
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'the socket of the database is in a new folder',
    'the socket of the database is in a new folder',
  ])
})
