import { chmod, chown, lchown, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makePrivateFolder, readPrivateFile } from './private-files.ts'

const isRoot = process.getuid?.() === 0
const STRANGER = 54_321

let parent: string
let folder: string
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), 'alcove-private-'))
  folder = path.join(parent, 'run')
})
afterEach(() => rm(parent, { recursive: true }))

const modeOf = async (file: string) => (await stat(file)).mode & 0o7777

test('a new folder is for its owner alone, and is accepted the next time', async () => {
  const before = process.umask(0)
  await makePrivateFolder(folder)
  process.umask(before)
  expect(await modeOf(folder)).toBe(0o700)
  await makePrivateFolder(folder)
})

test('a link, a file and an open folder are refused, and left as they are', async () => {
  const elsewhere = path.join(parent, 'elsewhere')
  await mkdir(elsewhere, { mode: 0o755 })
  await symlink(elsewhere, folder)
  await expect(makePrivateFolder(folder, { uid: STRANGER, gid: STRANGER })).rejects.toThrow('is a link or a file')
  expect((await lstat(folder)).isSymbolicLink()).toBe(true)
  expect((await stat(elsewhere)).uid).not.toBe(STRANGER)
  await rm(folder)
  await writeFile(folder, '')
  await expect(makePrivateFolder(folder)).rejects.toThrow('is a link or a file')
  for (const mode of [0o777, 0o750, 0o701]) {
    await rm(folder, { recursive: true })
    await mkdir(folder)
    await chmod(folder, mode)
    await expect(makePrivateFolder(folder), mode.toString(8)).rejects.toThrow('its mode is not 700')
  }
})

test('a folder in which everybody may exchange files is refused, unless it is sticky', async () => {
  await chmod(parent, 0o777)
  await expect(makePrivateFolder(folder)).rejects.toThrow('its sticky bit is not set')
  expect(await readdir(parent)).toEqual([])
  await chmod(parent, 0o1777)
  await makePrivateFolder(folder)
})

test.runIf(isRoot)('a folder of another user is refused, but one of the wanted owner is not', async () => {
  await mkdir(folder, { mode: 0o700 })
  await chown(folder, STRANGER, STRANGER)
  await expect(makePrivateFolder(folder)).rejects.toThrow('belongs to another user')
  await makePrivateFolder(folder, { uid: STRANGER, gid: STRANGER })
  await expect(makePrivateFolder(folder, { uid: STRANGER + 1, gid: STRANGER })).rejects.toThrow(
    'belongs to another user',
  )
})

test('a private file is read, and closed to others', async () => {
  const file = path.join(parent, 'secrets.json')
  await writeFile(file, 'mine', { mode: 0o644 })
  expect(await readPrivateFile(file)).toBe('mine')
  expect(await modeOf(file)).toBe(0o600)
})

test('a link to a private file is read, as mounted secrets are', async () => {
  const file = path.join(parent, 'secrets.json')
  await mkdir(folder, { mode: 0o700 })
  await symlink('run', path.join(parent, '..data'))
  await symlink('..data/secrets.json', file)
  await writeFile(path.join(folder, 'secrets.json'), 'mounted', { mode: 0o644 })
  expect(await readPrivateFile(file)).toBe('mounted')
  expect(await modeOf(file)).toBe(0o600)
  await rm(path.join(folder, 'secrets.json'))
  await expect(readPrivateFile(file)).rejects.toThrow('is a link to nothing')
  await rm(file)
  await expect(readPrivateFile(file)).rejects.toMatchObject({ code: 'ENOENT' })
})

/** Runs as a user who may neither change the file nor enter its group, unless it is that user's. */
async function asStranger(run: () => Promise<void>): Promise<void> {
  process.setegid?.(STRANGER)
  process.seteuid?.(STRANGER)
  try {
    await run()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

test.runIf(isRoot)(
  'of a file whose mode cannot be changed the error names the mode, and a group may read',
  async () => {
    const file = path.join(parent, 'secrets.json')
    await chmod(parent, 0o755)
    await writeFile(file, 'mounted')
    await chown(file, 0, STRANGER)
    for (const mode of [0o644, 0o660]) {
      await chmod(file, mode)
      await asStranger(() =>
        expect(readPrivateFile(file)).rejects.toThrow(
          `others may use "${file}", whose mode is ${mode.toString(8)} and cannot be changed`,
        ),
      )
    }
    await chmod(file, 0o640)
    await asStranger(async () => expect(await readPrivateFile(file)).toBe('mounted'))
    await chmod(file, 0o600)
    await asStranger(() => expect(readPrivateFile(file)).rejects.toThrow(`this user may not read "${file}"`))
  },
)

test.runIf(isRoot)('a private file of another user is refused', async () => {
  const file = path.join(parent, 'secrets.json')
  await writeFile(file, 'theirs', { mode: 0o600 })
  await chown(file, STRANGER, STRANGER)
  await expect(readPrivateFile(file)).rejects.toThrow('belongs to another user')
  await chown(parent, STRANGER, STRANGER)
  expect(await readPrivateFile(file)).toBe('theirs')
  await chown(parent, 0, 0)
  await writeFile(`${file}.own`, 'mine', { mode: 0o600 })
  await symlink(file, `${file}.link`)
  await expect(readPrivateFile(`${file}.link`)).rejects.toThrow('belongs to another user')
  await symlink(`${file}.own`, `${file}.planted`)
  await lchown(`${file}.planted`, STRANGER, STRANGER)
  await expect(readPrivateFile(`${file}.planted`)).rejects.toThrow('belongs to another user')
})
