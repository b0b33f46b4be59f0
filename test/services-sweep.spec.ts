/** Without workers, the services themselves remove the bytes that a crash left. */
import { randomUUID } from 'node:crypto'
import { access, mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { codeOf } from '#server/base/errors.ts'
import { createDataDir, startAlcove } from './alcove.ts'

test('services without workers remove old bytes that no row names, and leave new ones', async () => {
  const folder = await createDataDir()
  onTestFinished(() => folder.remove())
  const environment = { DATA_DIR: folder.dataDir, ALCOVE_PARTS: 'services' }
  await (await startAlcove(environment)).end()

  const place = async (modifiedAt: Date) => {
    const id = randomUUID()
    const file = path.join(folder.dataDir, 'blobs', id.slice(0, 2), id)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, 'bytes')
    await utimes(file, modifiedAt, modifiedAt)
    return file
  }
  const old = await place(new Date(Date.now() - 2 * 24 * 60 * 60_000))
  const arriving = await place(new Date())

  const alcove = await startAlcove(environment)
  onTestFinished(async () => {
    await alcove.end()
  })
  await alcove.printed('removed bytes that no row names')
  const state = (file: string) => access(file).then(() => 'there', codeOf)
  expect([await state(old), await state(arriving)]).toEqual(['ENOENT', 'there'])
})
