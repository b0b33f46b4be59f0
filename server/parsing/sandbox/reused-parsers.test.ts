import path from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { makeDocx } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { PARSE_LIMITS } from './limits.ts'
import { type startReusedParser, startSandboxed } from './parser-process.ts'
import { createReusedParsers, type ReusedParsers, type ReuseLimits } from './reused-parsers.ts'
import { runParser } from './run-parser.ts'

const READ_FILES = path.join(import.meta.dirname, 'read-files.ts')
/** A parser that runs each file as a program, which returns the text of its page. */
const RUN_FILES = `
  import { readFiles } from ${JSON.stringify(READ_FILES)}
  const run = async function* (bytes) {
    const text = await (0, eval)('(async () => {' + Buffer.from(bytes).toString() + '})')()
    yield { pages: 1 }
    yield { page: 1, text: String(text) }
  }
  await readFiles(async () => run)
  process.abort()`

let parsers: ReusedParsers
const startProgramRunner: typeof startReusedParser = ({ limits, mimetype }) =>
  startSandboxed(limits, mimetype, ['--input-type=module', '-e', RUN_FILES])
/** A busy machine may be slow to let a process settle. */
const PATIENT = { settleMs: 20_000 }
const createProgramRunner = (reuse: Partial<ReuseLimits> = {}) => {
  parsers.stop()
  parsers = createReusedParsers({ startProcess: startProgramRunner, reuse: { ...PATIENT, ...reuse } })
}
beforeEach(() => {
  parsers = createReusedParsers({ reuse: PATIENT })
})
afterEach(() => parsers.stop())

interface Given {
  readonly owner?: string
  readonly mimetype?: string
  readonly signal?: AbortSignal
  readonly onProcess?: (pid: number) => void
}

async function readTogether(file: string | Buffer, given: Given = {}) {
  let pid = 0
  const bytes = Buffer.from(file)
  const parts = await parsers.read({
    owner: 'one',
    mimetype: UPLOAD_TYPES.txt,
    size: bytes.length,
    open: async () => Readable.from([bytes]),
    options: { languages: [] },
    limits: PARSE_LIMITS,
    signal: new AbortController().signal,
    ...given,
    onProcess(found) {
      pid = found
      given.onProcess?.(found)
    },
  })
  return { pid, text: parts?.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n') }
}

const isGone = (pid: number): boolean => {
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

describe('small files', () => {
  test('of one person and type share a process, those of two people or two types never do', async () => {
    const [first, second] = [await readTogether('The first note.'), await readTogether('The second note.')]
    const stranger = await readTogether('A note of another person.', { owner: 'two' })
    const word = await readTogether(makeDocx([{ paragraph: 'A letter.' }]), { mimetype: UPLOAD_TYPES.docx })
    const third = await readTogether('The third note.')
    expect([first, second, stranger, word].map(({ text }) => text)).toEqual([
      'The first note.', 'The second note.', 'A note of another person.', 'A letter.',
    ]) // prettier-ignore
    expect(second.pid).toBe(first.pid)
    expect(new Set([first, stranger, word].map(({ pid }) => pid)).size).toBe(3)
    expect(third.text).toBe('The third note.')
  })

  test.each([
    ['pdf', (n: number) => makePdf([`The notice period of contract ${n} is three months.`])],
    ['docx', (n: number) => makeDocx([{ paragraph: `The notice period of contract ${n} is three months.` }])],
    ['xlsx', (n: number) => makeWorkbook([{ name: 'Notes', rows: [[`Contract ${n}`, 'three months']] }])],
    ['txt', (n: number) => Buffer.from(`The notice period of contract ${n} is three months.`)],
  ] as const)('of type %s leave nothing behind for which their process would be replaced', async (type, make) => {
    const read = []
    for (let n = 0; n < 4; n += 1) read.push(await readTogether(make(n), { mimetype: UPLOAD_TYPES[type] }))
    for (const [n, { text }] of read.entries()) expect(text?.toLowerCase()).toContain(`contract ${n}`)
    expect(new Set(read.map(({ pid }) => pid)).size).toBe(1)
  })

  test('that a parser refuses as foreseen are left to a process of their own', async () => {
    expect((await readTogether(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]))).text).toBeUndefined()
    expect((await readTogether('A note.')).text).toBe('A note.')
  })
})

describe('a process is replaced', () => {
  test('after as many files as it may read', async () => {
    parsers.stop()
    parsers = createReusedParsers({ reuse: { ...PATIENT, filesPerProcess: 2 } })
    const pids: number[] = []
    for (const note of ['one', 'two', 'three', 'four', 'five']) pids.push((await readTogether(note)).pid)
    expect(pids.map((pid) => pids.indexOf(pid))).toEqual([0, 0, 2, 2, 4])
  })

  test.each([
    ['throws', `throw new Error('unforeseen')`],
    ['ends its process', `process.abort()`],
    ['never ends', `for (;;);`],
    ['loses a promise', `await new Promise(() => undefined)`],
    ['takes much memory', `const held = []; for (;;) held.push(new Uint8Array(1e7).fill(1))`],
    ['writes without end', `for (;;) console.log('x'.repeat(1e6))`],
    ['writes what no parser says', `console.log('{"part":{"page":"one"}}'); return ''`],
    ['says that it is ready before it has ended', `console.log('{"ready":true}'); return ''`],
  ])('when a file %s, and that file is left to a process of its own', async (_, program) => {
    createProgramRunner({ residentBytes: 300 * 1024 * 1024 })
    const before = await readTogether(`return 'before'`)
    const hostile = await readTogether(program)
    const after = await readTogether(`return 'after'`)
    expect([before.text, hostile.text, after.text]).toEqual(['before', undefined, 'after'])
    expect(hostile.pid).toBe(before.pid)
    expect(after.pid).not.toBe(before.pid)
    expect(isGone(before.pid)).toBe(true)
  })

  test('once its memory grew to half of the bound, although every file was read', async () => {
    createProgramRunner({ residentBytes: 600 * 1024 * 1024 })
    const small = await readTogether(`globalThis.process.held = []; return 'read'`)
    const growing = await readTogether(`
      process.held.push(new Uint8Array(400 * 1024 * 1024).fill(1))
      return 'read'`)
    const next = await readTogether(`return typeof process.held`)
    expect([small.text, growing.text, next.text]).toEqual(['read', 'read', 'undefined'])
    expect(growing.pid).toBe(small.pid)
    expect(next.pid).not.toBe(growing.pid)
  })

  test.each([
    ['a timer', `setTimeout(() => (globalThis.late = 1), 30)`],
    ['a timer that would not keep a process', `setTimeout(() => (globalThis.late = 1), 30).unref()`],
    ['an interval', `setInterval(() => undefined, 1)`],
    ['a promise that rejects later', `Promise.reject(new Error('late'))`],
    ['a promise that rejects in a later turn', `setImmediate(() => Promise.reject(new Error('late')))`],
    [
      'work of another thread',
      `(await import('node:crypto')).pbkdf2('a', 'b', 1e5, 64, 'sha512', () => (globalThis.late = 1))`,
    ],
    ['a changed prototype', `Array.prototype.join = () => 'forged'`],
    ['a property of every object', `Object.prototype.text = 'forged'`],
    [
      'a property that each loop over an array visits',
      `Object.defineProperty(Array.prototype, 'join', { enumerable: true })`,
    ],
    ['another property in place of one', `Object.defineProperty(Math, 'PI2', { get: () => 6 }); delete Math.hypot`],
    ['a value that cannot be set any more', `Object.defineProperty(Math, 'max', { writable: false })`],
    ['a property named by a symbol', `String.prototype[Symbol.toPrimitive] = () => 'forged'`],
    ['a changed object that no global names', `Object.getPrototypeOf(function* () {}).prototype.next = () => 'forged'`],
    ['a new global', `globalThis.seen = 'what the file held'`],
    ['a changed function of a module', `process.getBuiltinModule('util').inspect = () => 'forged'`],
    ['a prototype that inherits from another', `Reflect.setPrototypeOf(Map.prototype, { get: () => 'forged' })`],
  ])('when a file leaves %s behind, although it is read', async (_, program) => {
    createProgramRunner(program.startsWith('setInterval') ? { settleMs: 500 } : {})
    const leaving = await readTogether(`${program}; return 'read'`)
    const next = await readTogether(
      `return [1, 2].join('+') + Object.keys(globalThis).some((key) => key === 'seen' || key === 'late')`,
    )
    expect([leaving.text, next.text]).toEqual(['read', '1+2false'])
    expect(next.pid).not.toBe(leaving.pid)
  })
})

test('no file sees bytes of the one before, neither its own nor those of its expressions', async () => {
  createProgramRunner()
  const first = await readTogether(`/secret/.exec('a secret word'); return 'read'`)
  const second = await readTogether(`
    const pooled = Array.from({ length: 400 }, () => Buffer.allocUnsafe(4_000).toString('latin1')).join('')
    return [RegExp.input.includes('secret'), pooled.includes('secret'), /[^\\0]/.test(pooled)]`)
  expect(second.text).toBe('false,false,false')
  expect(second.pid).toBe(first.pid)
})

test('a process that reads files has loaded no code of the network', async () => {
  createProgramRunner()
  const { text } = await readTogether(
    `return [process.moduleLoadList.length > 50, process.moduleLoadList.filter((name) => /undici|http/.test(name))]`,
  )
  expect(text).toBe('true,')
})

test('the end of one job ends its file alone', async () => {
  createProgramRunner()
  const stop = new AbortController()
  const started = Promise.withResolvers<number>()
  const stopped = readTogether('for (;;);', { signal: stop.signal, onProcess: started.resolve })
  const other = readTogether(`return 'read'`, { owner: 'two' })
  const pid = await started.promise
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  await vi.waitFor(() => expect(isGone(pid)).toBe(true))
  expect((await other).text).toBe('read')
  expect((await readTogether(`return 'again'`)).text).toBe('again')
})

test('processes end when the server stops, when they are idle, and when others are idle for longer', async () => {
  parsers.stop()
  parsers = createReusedParsers({ reuse: { ...PATIENT, idleMs: 50, idleProcesses: 1 } })
  const { pid: idle } = await readTogether('A note.')
  await vi.waitFor(() => expect(isGone(idle)).toBe(true))
  parsers.stop()
  parsers = createReusedParsers({ reuse: { ...PATIENT, idleProcesses: 1 } })
  const { pid: first } = await readTogether('A note.')
  const { pid: second } = await readTogether('A note.', { owner: 'two' })
  await vi.waitFor(() => expect(isGone(first)).toBe(true))
  expect(isGone(second)).toBe(false)
  parsers.stop()
  await vi.waitFor(() => expect(isGone(second)).toBe(true))
})

test('a file that its reused process cannot read is judged by a process of its own', async () => {
  createProgramRunner()
  const pids: number[] = []
  const bytes = Buffer.from('throw new Error()')
  const texts: string[] = []
  for await (const part of runParser({
    open: async () => Readable.from([bytes]),
    size: bytes.length,
    mimetype: UPLOAD_TYPES.txt,
    owner: 'one',
    signal: new AbortController().signal,
    reusedParsers: parsers,
    onProcess: (pid) => pids.push(pid),
  }))
    if ('text' in part) texts.push(part.text)
  expect(texts).toEqual(['throw new Error()'])
  expect(new Set(pids).size).toBe(2)
})
