import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const WORKER_FILE = path.join(import.meta.dirname, 'worker-thread.ts')

// Runs in a separate process: a lowered priority cannot be raised again.
test('the thread does not change the priority of the server or its child processes', async () => {
  const program = `
    import { getPriority } from 'node:os'
    const before = getPriority()
    const { inIndexThread } = await import(${JSON.stringify(WORKER_FILE)})
    await inIndexThread((run) => run('addPages', []))
    console.log(getPriority() - before)
    process.exit()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect(stdout.trim()).toBe('0')
})
