/**
 * Preloaded into every parser process, before any parser: leaves of Node only what parsers need. Node's permission model
 * covers files, processes, threads and addons, but no network, signals or SQLite, which writes files itself.
 *
 * Both are lists of what is allowed, so that a newer Node adds nothing. What remains reachable is changed on the one
 * object that every import shares, and cannot be changed back.
 */
import { writeSync } from 'node:fs'
import Module, { registerHooks, syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'

export const ALLOWED_MODULES = new Set([
  'assert', 'buffer', 'constants', 'crypto', 'events', 'fs', 'fs/promises', 'module', 'os', 'path', 'path/posix', 'path/win32',
  'process', 'punycode', 'querystring', 'stream', 'stream/consumers', 'stream/promises', 'stream/web', 'string_decoder',
  'timers', 'timers/promises', 'url', 'util', 'util/types', 'zlib',
]) // prettier-ignore

const ALLOWED_PROCESS_FUNCTIONS = new Set([
  '_fatalException', '_rawDebug', '_tickCallback', 'abort', 'availableMemory', 'constrainedMemory', 'cpuUsage', 'cwd',
  'emitWarning', 'exit', 'getegid', 'geteuid', 'getgid', 'getgroups', 'getuid', 'hasUncaughtExceptionCaptureCallback', 'hrtime',
  'memoryUsage', 'nextTick', 'reallyExit', 'ref', 'resourceUsage', 'setSourceMapsEnabled', 'setUncaughtExceptionCaptureCallback',
  'threadCpuUsage', 'unref', 'uptime',
]) // prettier-ignore

const REMOVED_GLOBALS = [
  'fetch', 'FormData', 'Headers', 'Request', 'Response', 'MessageEvent', 'CloseEvent', 'WebSocket', 'EventSource',
  'localStorage', 'sessionStorage', 'BroadcastChannel',
] // prettier-ignore

const NATIVE_IMAGE_LIBRARY = /[\\/]node_modules[\\/]@img[\\/]sharp-[^\\/]+[\\/]lib[\\/]sharp-[^\\/]+\.node$/

const REFUSED_MODULE = pathToFileURL(
  path.join(import.meta.dirname, `refused-module${path.extname(import.meta.filename)}`),
).href

function refuse(): never {
  throw Object.assign(new Error('a parser may not do this'), { code: 'ERR_ACCESS_DENIED' })
}

function fix(owner: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: false, configurable: false, enumerable: true })
}

/** Node assigns some of these itself when it loads a module, which must not fail. */
function fixAsRefused(owner: object, name: PropertyKey): void {
  Object.defineProperty(owner, name, { get: () => refuse, set: () => undefined, configurable: false, enumerable: true })
}

const plainName = (name: string): string => name.replace(/^node:/, '')

function restrictModules(): void {
  const builtin = new Set(Module.builtinModules.map(plainName))
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const isBuiltin = specifier.startsWith('node:') || builtin.has(specifier)
      const isAllowed = !isBuiltin || ALLOWED_MODULES.has(plainName(specifier))
      return isAllowed ? nextResolve(specifier, context) : { url: REFUSED_MODULE, shortCircuit: true }
    },
  })
  // Hooks that are added later would run first.
  for (const name of ['registerHooks', 'register', 'enableCompileCache', 'flushCompileCache']) fix(Module, name, refuse)
  const getBuiltinModule = process.getBuiltinModule.bind(process)
  fix(process, 'getBuiltinModule', (name: string) =>
    ALLOWED_MODULES.has(plainName(name)) ? getBuiltinModule(name) : undefined,
  )
}

const standardOutput = (descriptor: number) =>
  new Writable({
    write(chunk: Buffer, _encoding, written) {
      writeSync(descriptor, chunk)
      written()
    },
  })

function restrictProcess(): void {
  const load = process.dlopen.bind(process)
  fix(process, 'dlopen', (target: object, file: string, flags?: number) =>
    NATIVE_IMAGE_LIBRARY.test(file) ? load(target, file, ...(flags === undefined ? [] : [flags])) : refuse(),
  )
  // `sharp` asks the report which C library there is; writing reports is refused by the permission model as well.
  const { report } = process
  const getReport = report.getReport.bind(report)
  Object.assign(report, { excludeNetwork: true })
  fix(process, 'report', { getReport })
  // Node's own streams are sockets, whose class can connect and listen.
  fix(process, 'stdin', undefined)
  fix(process, 'stdout', standardOutput(1))
  fix(process, 'stderr', standardOutput(2))
  for (const name of Reflect.ownKeys(process)) {
    const found = Object.getOwnPropertyDescriptor(process, name)
    if (typeof found?.value !== 'function' || found.writable !== true) continue
    if (typeof name === 'symbol' || !ALLOWED_PROCESS_FUNCTIONS.has(name)) fixAsRefused(process, name)
  }
  fix(os, 'setPriority', refuse)
}

restrictModules()
restrictProcess()
// Deleting does not load what these would load at their first use; redefining them would.
for (const name of REMOVED_GLOBALS) Reflect.deleteProperty(globalThis, name)
// The PDF library asks for this method when it is loaded, and calls it only where it writes files.
Object.assign(globalThis, {
  Response: class {
    bytes(): never {
      return refuse()
    }
  },
})
syncBuiltinESMExports()
