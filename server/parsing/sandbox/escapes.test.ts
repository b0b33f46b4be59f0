/** Tries from inside what a parser that runs an attacker's code could try. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { listEscapes, writeEscapeProgram } from '#test/sandbox-escapes.ts'
import { chooseConfinement, findConfinedPid, killOrphans } from './confinement.ts'
import { PARSE_LIMITS } from './limits.ts'
import { sandboxFlags, startSandboxed } from './parser-process.ts'
import { runParser } from './run-parser.ts'

const PARSER = path.join(import.meta.dirname, '../parser-main.ts')

let folder: string
let escapes: Record<string, string>
const heard: string[] = []
const server = createServer((socket) => {
  heard.push('a connection')
  socket.on('error', () => undefined).end('HTTP/1.1 204 No Content\r\n\r\n')
})
const datagrams = createSocket('udp4').on('message', () => heard.push('a datagram'))

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-escapes-'))
  await chmod(folder, 0o777)
  const secretFile = path.join(folder, 'secret')
  await writeFile(secretFile, 'A=1', { mode: 0o600 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  datagrams.bind(0, '127.0.0.1')
  await once(datagrams, 'listening')
  escapes = listEscapes({
    folder,
    tcpPort: (server.address() as AddressInfo).port,
    udpPort: datagrams.address().port,
    pid: process.pid,
    secretFile,
  })
})
afterAll(async () => {
  server.close()
  datagrams.close()
  await rm(folder, { recursive: true, force: true })
})

const program = (of: Readonly<Record<string, string>>) => ['--input-type=module', '-e', writeEscapeProgram(of)]

async function outputOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<string[]> {
  child.stdin.end()
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(output, errors).not.toBe('')
  const [worked = '', ...after] = output.trim().split('\n')
  return [...(JSON.parse(worked) as string[]), ...after]
}

const runPlainly = (command: readonly string[]) => {
  const [name = '', ...args] = command
  return outputOf(spawn(name, args, { env: {}, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] }))
}

test('without a sandbox every one of these attempts works', async () => {
  const worked = await runPlainly([process.execPath, ...program(escapes)])
  expect(worked.toSorted()).toEqual([...Object.keys(escapes), 'another program in its place'].toSorted())
  await expect.poll(() => new Set(heard)).toEqual(new Set(['a connection', 'a datagram']))
})

test.each([
  ['of a pdf', UPLOAD_TYPES.pdf],
  ['of a picture', UPLOAD_TYPES.png],
])('none works inside the parser %s, by Node alone and with the system', async (_type, mimetype) => {
  for (const name of await readdir(folder))
    if (name !== 'secret') await rm(path.join(folder, name), { recursive: true })
  heard.length = 0
  expect(await runPlainly([process.execPath, ...sandboxFlags(PARSE_LIMITS, mimetype), ...program(escapes)])).toEqual([])
  expect(await outputOf(startSandboxed(PARSE_LIMITS, mimetype, program(escapes)))).toEqual([])
  expect(await readdir(folder)).toEqual(['secret'])
  expect(heard).toEqual([])
})

const { name: confinement, command } = chooseConfinement([PARSER])
const hasNamespaces = confinement.startsWith('namespaces')
/** Root below a closed folder lets the other user read through it, and so everything. */
const readsAsOtherUser =
  confinement.endsWith('another user') && !command.some((argument) => argument.includes('dac_read_search'))

/** Stands for native code that has left Node's own checks behind. */
const runConfined = (of: readonly string[]) =>
  runPlainly([
    ...command,
    process.execPath,
    ...program(Object.fromEntries(of.map((name) => [name, escapes[name] ?? '']))),
  ])

test('the limits of the system alone let nothing be written to a file', async () => {
  expect(await runConfined(['a written file', 'a file written by SQLite'])).toEqual(['another program in its place'])
})

test.runIf(hasNamespaces)('namespaces alone let nothing out, and show no other process', async () => {
  heard.length = 0
  const tried = ['a connection', 'a datagram', 'a signal', 'a signal by the binding', 'the priority of another process', 'the environment of another process'] // prettier-ignore
  expect(await runConfined(tried)).toEqual(['another program in its place'])
  expect(heard).toEqual([])
})

test.runIf(readsAsOtherUser)('another user alone reads no file of the server', async () => {
  expect(await runConfined(['a file of the server', 'a symbolic link', 'a listening socket in the file system'])).not.toContain('a file of the server') // prettier-ignore
})

test('the process behind the wrappers is found, has no environment and ends with its wrappers', async () => {
  const child = startSandboxed(PARSE_LIMITS, UPLOAD_TYPES.txt, [
    '--input-type=module', '-e', `console.log(JSON.stringify([process.env, process.argv.length])); setInterval(() => {}, 1_000)`,
  ]) // prettier-ignore
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  expect(JSON.parse(String(said))).toEqual([{}, 1])
  const pid = findConfinedPid(child.pid)
  expect(pid === child.pid).toBe(!command.includes('unshare'))
  child.kill('SIGKILL')
  await once(child, 'close')
  await expect.poll(() => findConfinedPid(pid)).toBeUndefined()
})

test('a process that its wrapper left behind ends with the wrapper', async () => {
  // Not bound to its parent, as the process behind a wrapper is for its first milliseconds.
  const wrapper = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; wait'], { detached: true })
  wrapper.once('exit', () => killOrphans(wrapper))
  const [left] = (await once(wrapper.stdout, 'data')) as [Buffer]
  wrapper.kill('SIGKILL')
  await once(wrapper, 'close')
  await expect.poll(() => findConfinedPid(Number(left))).toBeUndefined()
})

/** A parser that a file has taken over, which writes the rest of a line or lines for as long as it may. */
const flood = (start: string, repeated: string) => `
  const repeated = ${repeated}
  const { writeSync } = await import('node:fs')
  const send = (bytes) => {
    for (let rest = bytes; rest.length > 0;) {
      try {
        rest = rest.subarray(writeSync(1, rest))
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error
      }
    }
  }
  send(Buffer.from(${JSON.stringify(start)}))
  const block = Buffer.from(repeated.repeat(Math.ceil(1e6 / repeated.length)))
  for (;;) send(block)`
const LONG_PAGE = `JSON.stringify({ part: { page: 1, text: 'x'.repeat(1e6) } }) + '\\n'`

test.each([
  ['one line without an end', flood('{"part":{"page":1,"text":"', `'x'`)],
  ['more text than a document may have', flood('', LONG_PAGE)],
])('a parser that writes %s is ended, and its file fails', async (_, code) => {
  const child = startSandboxed(PARSE_LIMITS, UPLOAD_TYPES.txt, ['--input-type=module', '-e', code])
  const run = runParser({
    open: async () => Readable.from([]),
    size: 0,
    mimetype: UPLOAD_TYPES.txt,
    signal: new AbortController().signal,
    warmParsers: { take: () => child, stop: () => undefined },
  })
  const readAll = async () => {
    for await (const part of run) expect(part).toMatchObject({ page: 1 })
  }
  await expect(readAll()).rejects.toMatchObject({ code: 'too_large' })
  expect(child.signalCode ?? child.exitCode).not.toBeNull()
})
