/** Runs the commands `backup` and `restore` as an operator does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createDataDir, type Environment } from './alcove.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const summarySchema = z.object({
  backup: z.string(),
  bytes: z.int().positive(),
  seconds: z.number().positive(),
  verified: z.literal(true),
})

interface CommandEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** @param killAfterMs ends the command by SIGKILL */
export async function runCommand(
  name: 'backup' | 'restore',
  address: string,
  environment: Environment,
  killAfterMs?: number,
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [`scripts/${name}.ts`, address], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close')
  if (killAfterMs !== undefined) {
    await Promise.race([ended, delay(killAfterMs)])
    child.kill('SIGKILL')
  }
  await ended
  return { code: child.exitCode, stdout, stderr }
}

export async function succeed(...given: Parameters<typeof runCommand>): Promise<z.infer<typeof summarySchema>> {
  const { code, stdout, stderr } = await runCommand(...given)
  expect(code, stderr).toBe(0)
  expect(stdout.split('\n')).toHaveLength(2)
  return summarySchema.parse(JSON.parse(stdout))
}

/** Names of a folder for backups and of one to restore to, which do not exist yet and end with the calling test. */
export async function temporaryPlace(): Promise<{ folder: string; dataDir: string }> {
  const { dataDir, remove } = await createDataDir()
  onTestFinished(remove)
  return { folder: path.join(path.dirname(dataDir), 'backups'), dataDir }
}
