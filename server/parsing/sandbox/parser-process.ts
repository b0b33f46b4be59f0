/** Starts processes that read people's files: sandboxed by Node and the system, without environment, at low priority. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DocumentLanguage } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'
import type { BackgroundThrottle } from '#server/base/background-throttling.ts'
import { type Fail, runInFailureScope } from '#server/base/failure-scope.ts'
import { guardEvents } from '#server/base/guard-events.ts'
import type { Log } from '#server/base/log.ts'
import { lowerPriority } from '#server/base/lower-priority.ts'
import { chooseConfinement, findConfinedPid, killOrphans, signalConfined } from './confinement.ts'
import type { ParseLimits } from './limits.ts'

export interface ParserSpec {
  readonly mimetype: string
  readonly limits: ParseLimits
  /** Languages for OCR; absent if the process only extracts text. */
  readonly ocrLanguages?: readonly DocumentLanguage[]
}

/** The sources, or with Node's condition `built-parsers` the files that `vite.parsers.config.ts` joins, which start in half the time. */
const { resolve } = createRequire(import.meta.url)
const LOCK_DOWN_FILE = resolve('#parsers/sandbox/lock-down')
const PARSER_FILE = resolve('#parsers/parser-main')
const REUSED_PARSER_FILE = resolve('#parsers/reused-parser-main')
export const SHRINK_IMAGE_FILE = resolve('#parsers/image/shrink-image-process')
const RUNS_SOURCES = path.dirname(LOCK_DOWN_FILE) === import.meta.dirname
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

/** The only readable files: libraries, parsers, and the package.json that maps their imports. */
const READABLE_PATHS = [
  ...nodeModulesFolders(),
  path.resolve(path.dirname(LOCK_DOWN_FILE), '..'),
  ...(RUNS_SOURCES ? [path.join(REPOSITORY, 'server', 'search', 'text'), path.join(REPOSITORY, 'contract')] : []),
  path.join(REPOSITORY, 'package.json'),
]

/** Libraries of an installed package may be in a node_modules further up. */
function nodeModulesFolders(): string[] {
  const folders: string[] = []
  for (let folder = REPOSITORY; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules')
    if (existsSync(candidate)) folders.push(candidate)
    if (folder === path.dirname(folder)) return folders
  }
}

/** Only image parsers may load a native library. */
export const isImage = (mimetype: string): boolean => fileTypeOf(mimetype)?.parser === 'image'

export const sandboxFlags = ({ heapMegabytes }: ParseLimits, mimetype: string): string[] => [
  '--permission',
  '--no-experimental-sqlite',
  '--disable-sigusr1',
  `--import=${pathToFileURL(LOCK_DOWN_FILE).href}`,
  ...(isImage(mimetype) ? ['--allow-addons'] : []),
  ...READABLE_PATHS.map((folder) => `--allow-fs-read=${folder}`),
  `--max-old-space-size=${heapMegabytes}`,
  // A waiting process must keep its compiled code.
  '--no-flush-bytecode',
  '--no-flush-liftoff-code',
  // Memory of an earlier file would otherwise show in a buffer of a later one.
  '--zero-fill-buffers',
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
]

interface StartOptions {
  readonly isWarm?: boolean
  readonly backgroundThrottle?: BackgroundThrottle | undefined
}

/** Logs which protection of the operating system is in force here. */
export function logConfinement(log: Log): void {
  const { name } = chooseConfinement(READABLE_PATHS)
  log.info({ confinement: name }, 'files of people are read in processes of their own')
}

/** Starts Node with these arguments, in a process group of its own. An error in a handler of its pipes ends it. */
export function startSandboxed(
  limits: ParseLimits,
  mimetype: string,
  args: readonly string[],
): ChildProcessWithoutNullStreams {
  const [command, ...rest] = [...chooseConfinement(READABLE_PATHS).command, process.execPath]
  // Its pipes then end, and with them the reading of this one file.
  const fail: Fail = () => signalConfined(child, 'SIGKILL')
  const child = runInFailureScope(fail, () =>
    spawn(command, [...rest, ...sandboxFlags(limits, mimetype), ...args], {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    }),
  )
  child.once('exit', () => killOrphans(child))
  for (const emitter of [child, child.stdin, child.stdout, child.stderr]) guardEvents(emitter, fail)
  if (child.pid !== undefined) lowerPriority(child.pid)
  return child
}

export function startParser(
  { mimetype, limits, ocrLanguages }: ParserSpec,
  { isWarm = false, backgroundThrottle }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const languages = isWarm && ocrLanguages ? [JSON.stringify(ocrLanguages)] : []
  const child = startSandboxed(limits, mimetype, [PARSER_FILE, mimetype, ...languages])
  throttleInBackground(child, backgroundThrottle)
  return child
}

/** For many small files of one person; it reads no pictures. */
export function startReusedParser(
  { mimetype, limits }: Pick<ParserSpec, 'mimetype' | 'limits'>,
  backgroundThrottle: BackgroundThrottle | undefined,
): ChildProcessWithoutNullStreams {
  const child = startSandboxed(limits, mimetype, [REUSED_PARSER_FILE, mimetype])
  throttleInBackground(child, backgroundThrottle)
  return child
}

function throttleInBackground(
  child: ChildProcessWithoutNullStreams,
  backgroundThrottle: BackgroundThrottle | undefined,
): void {
  if (chooseConfinement(READABLE_PATHS).endsWithParent) {
    let isConfined = false
    backgroundThrottle?.throttle(
      child,
      // The process behind the wrappers ends with this one; a wrapper may not yet.
      () => (isConfined ||= findConfinedPid(child.pid) !== undefined),
      (signal) => signalConfined(child, signal),
    )
  }
}
