/**
 * Loaded into a started server: a listener or timer throws on command, once. Each is named by the source file or package
 * that added it, with the class of its emitter and its event. Commands come as lines over the Unix socket
 * `THROWING_HANDLERS_SOCKET`.
 */
import { EventEmitter } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { isMainThread } from 'node:worker_threads'

type Callback = (this: unknown, ...values: unknown[]) => unknown

const called = new Set<string>()
const tests = new Set<Socket>()
let armed: { readonly name: string; readonly message: string } | undefined

/** Events whose listeners free or settle something throw at the end of a listener, others at its beginning. */
const AFTER =
  /(?:close|end|finish|exit|drain|timeout|abort|connect|secureConnect|open|setTimeout|setInterval|setImmediate)$/

function throwing(callback: Callback, name: string): Callback {
  return function throwOnce(this: unknown, ...values: unknown[]): unknown {
    called.add(name)
    if (armed?.name === name) {
      const { message } = armed
      armed = undefined
      for (const socket of tests) socket.write('thrown\n')
      if (AFTER.test(name)) Reflect.apply(callback, this, values)
      throw new RangeError(message)
    }
    return Reflect.apply(callback, this, values)
  }
}

/** Node's own wrappers of `on`, behind which the caller is. */
const ADDS_LISTENER = /at (?:\S+\.)?(?:on|once|addListener|prependListener|socketListenerWrap|eventTargetAgnosticAddListener)\b.*node:/ // prettier-ignore

/** The file of the server or the package that calls; undefined for Node itself. */
function findCaller(): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 12
  const frames = (new Error('where').stack ?? '').split('\n').slice(1)
  Error.stackTraceLimit = stackTraceLimit
  const frame = frames.find((line) => !line.includes('throwing-handlers') && !ADDS_LISTENER.test(line)) ?? ''
  const file = /(\/[^():]+):\d+:\d+\)?$/.exec(frame)?.[1] ?? ''
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? /\/(server\/.*)$/.exec(file) ?? []
  return frame.includes('node:') ? undefined : name
}

function describe(emitter: object, event: string | symbol): string | undefined {
  if (emitter === process || event === 'newListener' || event === 'removeListener') return undefined
  const caller = findCaller()
  return caller && `${caller} ${emitter.constructor.name} ${String(event)}`
}

function replaceListeners(): void {
  const { prototype } = EventEmitter
  const on = Reflect.get(prototype, 'on') as Callback
  const once = Reflect.get(prototype, 'once') as Callback

  function addThrowing(this: EventEmitter, event: string | symbol, listener: Callback): unknown {
    // A wrapper of `once` has its listener, by which it is removed.
    const name = 'listener' in listener ? undefined : describe(this, event)
    const added = name === undefined ? listener : Object.assign(throwing(listener, name), { listener })
    return Reflect.apply(on, this, [event, added])
  }

  function addThrowingOnce(this: EventEmitter, event: string | symbol, listener: Callback): unknown {
    const name = describe(this, event)
    if (name === undefined) return Reflect.apply(once, this, [event, listener])
    Reflect.apply(once, this, [event, throwing(listener, name)])
    const added = this.rawListeners(event).at(-1)
    if (added) Object.assign(added, { listener })
    return this
  }

  Object.assign(prototype, { on: addThrowing, addListener: addThrowing, once: addThrowingOnce })
}

function replaceTimer(name: 'setTimeout' | 'setInterval' | 'setImmediate'): void {
  const original = Reflect.get(globalThis, name) as Callback
  const replaced: Callback = function startThrowing(callback, ...rest) {
    // A native callback resolves a promise, and throws nothing.
    const isOurs = typeof callback === 'function' && !String(callback).includes('[native code]')
    const caller = isOurs ? findCaller() : undefined
    const started = caller === undefined ? callback : throwing(callback as Callback, `${caller} ${name}`)
    return Reflect.apply(original, undefined, [started, ...rest])
  }
  Reflect.set(globalThis, name, Object.defineProperties(replaced, Object.getOwnPropertyDescriptors(original)))
}

function serveCommands(address: string): void {
  const server = createServer((socket) => {
    tests.add(socket)
    createInterface({ input: socket }).on('line', (line) => {
      const [command, name = '', message = ''] = line.split('\t')
      if (command === 'arm') armed = { name, message }
      if (command === 'disarm') armed = undefined
      if (command === 'outside')
        setImmediate(() => {
          throw new RangeError('thrown outside of every unit')
        })
      socket.write(`${command === 'list' ? JSON.stringify([...called]) : 'done'}\n`)
    })
    socket.unref()
  })
  server.listen(address).unref()
}

if (isMainThread) {
  const address = process.env['THROWING_HANDLERS_SOCKET']
  if (address === undefined) throw new Error('THROWING_HANDLERS_SOCKET is not set')
  serveCommands(address)
  replaceListeners()
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) replaceTimer(name)
}
