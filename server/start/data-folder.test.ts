import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startOfProcess } from '#server/base/process-state.ts'
import { spawnUnreaped, waitForZombie } from '#test/unreaped-process.ts'
import { claimDataFolder } from './data-folder.ts'

test.runIf(process.platform === 'linux')('a claim holds while its process runs, and not as a zombie', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-claim-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { pid, endParent } = await spawnUnreaped('sleep 60')
  onTestFinished(endParent)
  const file = path.join(folder, 'server.pid')
  await writeFile(file, `${pid} ${await startOfProcess(pid)}`)
  await expect(claimDataFolder(folder)).rejects.toThrow(`is in use by another Alcove (process ${pid})`)
  process.kill(pid, 'SIGKILL')
  await waitForZombie(pid)
  const giveBack = await claimDataFolder(folder)
  expect(await readFile(file, 'utf8')).toBe(`${process.pid} ${await startOfProcess(process.pid)}`)
  await giveBack()
})
