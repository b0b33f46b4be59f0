import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { linkLibraries } from './library-links.ts'

const OVERFLOW_USER = 65_534

let folder: string
let libraries: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'alcove-links-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  libraries = path.join(folder, 'native', 'lib')
  mkdirSync(libraries, { recursive: true })
  for (const name of ['libpq.so.5.18', 'libicuuc.so.60.2']) writeFileSync(path.join(libraries, name), name)
  writeFileSync(
    path.join(folder, 'native', 'pg-symlinks.json'),
    JSON.stringify([
      { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
      { source: 'native/lib/libicuuc.so.60.2', target: 'native/lib/libicuuc.so.60' },
    ]),
  )
})

const inFolder = (...parts: string[]) => path.join(folder, ...parts)

test('missing links are made in the package, by a second start none', async () => {
  for (const _start of [1, 2]) {
    expect(await linkLibraries(folder, inFolder('own'))).toBeUndefined()
    expect(readFileSync(path.join(libraries, 'libpq.so.5'), 'utf8')).toBe('libpq.so.5.18')
    expect(readdirSync(libraries)).toHaveLength(4)
  }
  expect(readdirSync(folder)).toEqual(['native'])
})

test.skipIf(process.getuid?.() !== 0)(
  'a package of another user stays as it is, and an own folder has them',
  async () => {
    const own = inFolder('data', 'libraries')
    mkdirSync(own, { recursive: true })
    // A link of an earlier version.
    writeFileSync(path.join(own, 'libold.so.1'), '')
    for (const file of [inFolder('data'), own]) chownSync(file, OVERFLOW_USER, OVERFLOW_USER)
    process.seteuid?.(OVERFLOW_USER)
    try {
      expect(await linkLibraries(folder, own)).toBe(`${own}:${libraries}`)
    } finally {
      process.seteuid?.(0)
    }
    expect(readdirSync(libraries)).toHaveLength(2)
    expect(readdirSync(own).sort()).toEqual(['libicuuc.so.60', 'libpq.so.5'])
    expect(readFileSync(path.join(own, 'libpq.so.5'), 'utf8')).toBe('libpq.so.5.18')
  },
)

test('a package without a list of links needs none', async () => {
  rmSync(inFolder('native', 'pg-symlinks.json'))
  expect(await linkLibraries(folder, inFolder('own'))).toBeUndefined()
})
