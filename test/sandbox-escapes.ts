/** Attempts of code inside a parser. Each returns if it worked; without a sandbox all of them do. */
interface Targets {
  /** A folder that everybody may write to. */
  readonly folder: string
  readonly tcpPort: number
  readonly udpPort: number
  /** A process outside. */
  readonly pid: number
  /** A file that only the user of the server may read. */
  readonly secretFile: string
}

const fileIn = (folder: string, name: string) => JSON.stringify(`${folder}/${name}`)
const lookUp = (how: string) => `if (!(${how})) throw new Error('nothing')`

/** Ways to a module of Node that is refused. */
const waysTo = (name: string, member: string): Record<string, string> => ({
  [`import of ${name}`]: lookUp(`(await import('node:${name}')).${member}`),
  [`import of ${name} without its scheme`]: lookUp(`(await import('${name}')).${member}`),
  [`import of ${name} in generated code`]: lookUp(`(await new Function('return import("node:${name}")')()).${member}`),
  [`import of ${name} from a data URL`]: lookUp(
    `(await import('data:text/javascript,export * from "node:${name}"')).${member}`,
  ),
  [`getBuiltinModule of ${name}`]: lookUp(`process.getBuiltinModule('node:${name}')`),
  [`require of ${name}`]: lookUp(`(createRequire('/x.js')('${name}')).${member}`),
  [`the loader of CommonJS for ${name}`]: lookUp(`(Module._load('node:${name}', null, true)).${member}`),
  [`a module of CommonJS for ${name}`]: lookUp(`(new Module('/y.js').require('${name}')).${member}`),
})

export function listEscapes({ folder, tcpPort, udpPort, pid, secretFile }: Targets): Record<string, string> {
  return {
    ...waysTo('net', 'connect'),
    ...waysTo('dgram', 'createSocket'),
    ...waysTo('http', 'request'),
    ...waysTo('child_process', 'ChildProcess'),
    ...waysTo('async_hooks', 'createHook'),
    'a module by a hook of its own': `
      const hooks = Module.registerHooks({ resolve: (specifier, context, next) =>
        specifier === 'wanted' ? { url: 'node:net', format: 'builtin', shortCircuit: true } : next(specifier, context) })
      try { ${lookUp(`(await import('wanted')).connect`)} } finally { hooks.deregister() }`,
    'a file written by SQLite': `
      const { DatabaseSync } = await import('node:sqlite')
      new DatabaseSync(${fileIn(folder, 'escaped.db')}).exec('create table if not exists escaped (it int)')`,
    'a connection': `
      const { connect } = await import('node:net')
      const socket = connect(${tcpPort}, '127.0.0.1')
      await new Promise((done, failed) => socket.on('connect', done).on('error', failed))
      socket.destroy()`,
    'a connection by the class of standard input': `
      const socket = new (process.stdin.constructor)()
      await new Promise((done, failed) => socket.connect(${tcpPort}, '127.0.0.1').on('connect', done).on('error', failed))
      socket.destroy()`,
    'a datagram': `
      const socket = (await import('node:dgram')).createSocket('udp4')
      await new Promise((done, failed) => {
        socket.on('error', failed)
        socket.send('x', ${udpPort}, '127.0.0.1', (error) => (error ? failed(error) : done()))
      })
      socket.close()`,
    'the resolver of names': `await (await import('node:dns')).promises.lookup('localhost')`,
    'a listening port': `
      const server = (await import('node:net')).createServer()
      await new Promise((done, failed) => server.listen(0, done).on('error', failed))
      server.close()`,
    'a listening socket in the file system': `
      const server = (await import('node:net')).createServer()
      await new Promise((done, failed) => server.listen(${fileIn(folder, 'escaped.sock')}, done).on('error', failed))
      server.close()`,
    fetch: `await fetch('http://127.0.0.1:${tcpPort}')`,
    'a web socket': `new WebSocket('ws://127.0.0.1:${tcpPort}').close()`,
    'a signal': `process.kill(${pid}, 0)`,
    'a signal by the binding': lookUp(`process._kill(${pid}, 0) === 0`),
    'the debugger of another process': lookUp(`process._debugProcess.name !== 'refuse'`),
    'the priority of another process': `os.setPriority(${pid}, os.getPriority(${pid}))`,
    'another program': `(await import('node:child_process')).execFileSync('/bin/true')`,
    'a cluster': lookUp(`(await import('node:cluster')).default.fork`),
    'a thread': `await new (await import('node:worker_threads')).Worker('', { eval: true }).terminate()`,
    'a debugger of its own': `new (await import('node:inspector')).Session().connect()`,
    WASI: `new (await import('node:wasi')).WASI({ version: 'preview1', preopens: { '/': '/' } })`,
    'a report': `process.report.writeReport(${fileIn(folder, 'report.json')})`,
    'a snapshot of the heap': `(await import('node:v8')).writeHeapSnapshot(${fileIn(folder, 'escaped.heapsnapshot')})`,
    'options of V8': `(await import('node:v8')).setFlagsFromString('--no-opt')`,
    'a trace': `(await import('node:trace_events')).createTracing({ categories: ['escaped'] })`,
    'another user': `process.setuid(process.getuid())`,
    'another folder': `process.chdir('/')`,
    'an environment file': `process.loadEnvFile(${JSON.stringify(secretFile)})`,
    'an internal binding': lookUp(`process.binding('fs')`),
    'a handle that is open': lookUp(`process._getActiveHandles`) + `; process._getActiveHandles()`,
    'a compile cache': lookUp(`Module.enableCompileCache(${fileIn(folder, 'cache')}).status !== 0`),
    'a file of the server': `fs.readFileSync(${JSON.stringify(secretFile)})`,
    'a file of the system': `fs.readFileSync('/etc/passwd')`,
    'its own environment in /proc': `fs.readFileSync('/proc/self/environ')`,
    'the environment of another process': `fs.readFileSync('/proc/${pid}/environ')`,
    'a written file': `fs.writeFileSync(${fileIn(folder, 'escaped.txt')}, 'x')`,
    'a symbolic link': `fs.rmSync(${fileIn(folder, 'link')}, { force: true }); fs.symlinkSync('/etc/passwd', ${fileIn(folder, 'link')})`,
    'a watched folder': `fs.watch(${JSON.stringify(folder)}).close()`,
    'a refused function given back': `
      Object.defineProperty(process, 'kill', { value: () => 'mine', configurable: true })
      Module.syncBuiltinESMExports()
      ${lookUp(`process.kill() === 'mine'`)}`,
  }
}

/** A program that tries them all and prints the names of those that worked as one line of JSON. */
export function writeEscapeProgram(escapes: Readonly<Record<string, string>>): string {
  const attempts = Object.entries(escapes).map(([name, code]) => `[${JSON.stringify(name)}, async () => { ${code} }]`)
  return `
    import fs from 'node:fs'
    import os from 'node:os'
    import Module, { createRequire } from 'node:module'
    const worked = []
    for (const [name, attempt] of [${attempts.join(',\n')}]) {
      try { await attempt(); worked.push(name) } catch {}
    }
    fs.writeSync(1, JSON.stringify(worked) + '\\n')
    try { process.execve('/bin/echo', ['echo', 'another program in its place'], {}) } catch {}
    process.exit(0)`
}
