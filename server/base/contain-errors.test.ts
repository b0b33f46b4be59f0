/** Each case runs in a process of its own, which an error that is not contained would end. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const REPOSITORY = path.resolve(import.meta.dirname, '../..')

const PRELUDE = `
  import { spawn } from 'node:child_process'
  import { EventEmitter } from 'node:events'
  import { stat } from 'node:fs'
  import { connect, createServer } from 'node:net'
  import { createGzip } from 'node:zlib'
  import { containUncaughtErrors } from '#server/base/contain-errors.ts'
  import { countUncaughtErrors, rejectOnFailure, runInFailureScope } from '#server/base/failure-scope.ts'
  import { guardEvents } from '#server/base/guard-events.ts'
  import { createLog } from '#server/base/log.ts'
  import { repeat } from '#server/base/repeat.ts'
  containUncaughtErrors(createLog('error', { write: (line) => console.log(line) }), () => process.exit(1))
  const throwError = () => { throw new RangeError('thrown') }
  const failed = Promise.withResolvers()
  failed.promise.then((error) => {
    console.log('ended by ' + error.message + ', ' + countUncaughtErrors())
    process.exit(0)
  })
`

function run(program: string): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', PRELUDE + program]
    execFile(process.execPath, args, { cwd: REPOSITORY }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

const countErrors = (output: string) => output.split('\n').filter((line) => line.startsWith('{"level":50')).length

const UNITS: Readonly<Record<string, string>> = {
  'a timer': `setTimeout(throwError, 1)`,
  'a timer that a timer starts': `setTimeout(() => setTimeout(throwError, 1), 1)`,
  'an immediate': `setImmediate(throwError)`,
  'a tick': `process.nextTick(throwError)`,
  'a microtask': `queueMicrotask(throwError)`,
  'a callback of the file system': `stat('.', throwError)`,
  'a listener of a signal': `
    const controller = new AbortController()
    controller.signal.addEventListener('abort', throwError)
    setImmediate(() => controller.abort())`,
  'the data of a socket that it opened': `
    const server = createServer((socket) => socket.end('bytes')).listen(0, '127.0.0.1', () =>
      connect(server.address().port, '127.0.0.1').on('data', throwError))`,
  'the output of a process': `spawn(process.execPath, ['--version']).stdout.on('data', throwError)`,
  'a stream that decompresses': `createGzip().on('data', throwError).end('bytes')`,
}

test.each(Object.entries(UNITS))('what %s throws ends its own unit and is reported once', async (_name, start) => {
  const { code, output } = await run(`runInFailureScope(failed.resolve, () => { ${start} })`)
  expect(output).toContain('ended by thrown, 1')
  expect(countErrors(output)).toBe(1)
  expect(code).toBe(0)
})

test('what the scope of a promise throws rejects it and aborts its signal', async () => {
  const { code, output } = await run(`
    rejectOnFailure((signal) => {
      signal.addEventListener('abort', () => console.log('aborted'))
      setTimeout(throwError, 1)
      return new Promise(() => undefined)
    }).catch(failed.resolve)`)
  expect(output).toContain('aborted')
  expect(output).toContain('ended by thrown, 1')
  expect(code).toBe(0)
})

test('a repeated task goes on after a turn that throws or rejects', async () => {
  const { code, output } = await run(`
    let turns = 0
    repeat(() => {
      turns += 1
      if (turns === 1) throwError()
      if (turns === 2) return Promise.reject(new RangeError('rejected'))
      if (turns === 3) failed.resolve(new Error('turn three'))
    }, 1)`)
  expect(output).toContain('ended by turn three, 2')
  expect(code).toBe(0)
})

test('a rejected promise is reported, and the process goes on', async () => {
  const { code, output } = await run(`
    Promise.reject(new RangeError('thrown'))
    setTimeout(() => failed.resolve(new Error('nothing')), 1)`)
  expect(output).toContain('ended by nothing, 1')
  expect(countErrors(output)).toBe(1)
  expect(code).toBe(0)
})

test.each([
  ['belongs to no unit', `setTimeout(throwError, 1)`, 'belongs to nothing; the server stops'],
  ['belongs to a unit that cannot be ended', `runInFailureScope(throwError, () => setTimeout(throwError, 1))`, 'could not be ended; the server stops'],
])('an error that %s stops the server', async (_name, program, sentence) => {
  const { code, output } = await run(program)
  expect(output).toContain(sentence)
  expect(code).toBe(1)
}) // prettier-ignore
