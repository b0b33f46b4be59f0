import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDiskStore } from './disk.ts'
import { readFreeBytes, refuseOnFullDisk } from './refuse-on-full-disk.ts'

test('refuses bytes below the margin alone, reads them to their end, and leaves what is there', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-full-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const store = createDiskStore(folder)
  const free = await readFreeBytes(folder)
  const roomy = refuseOnFullDisk(store, { folder, marginBytes: Math.floor(free / 2) })
  const { id } = await roomy.put(Readable.from([Buffer.from('the lamp')]))

  const full = refuseOnFullDisk(store, { folder, marginBytes: free * 2 })
  let read = 0
  const bytes = Readable.from(
    (async function* () {
      for (; read < 500; read += 1) yield Buffer.alloc(65_536)
    })(),
  )
  await expect(full.put(bytes)).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('nearly full') as string,
  })
  expect(read).toBe(500)
  expect((await buffer(await full.open(id))).toString()).toBe('the lamp')
})
