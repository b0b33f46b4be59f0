/**
 * Starts the processes that read files: Node's permission model, an empty environment, low priority and a heap limit. Each
 * reads one file and ends.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type DocumentLanguage } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'
import { type BackgroundThrottle } from '#server/base/background-throttling.ts'
import { codeOf } from '#server/base/errors.ts'
import { lowerPriority } from '#server/base/lower-priority.ts'
import { type ParseLimits } from './limits.ts'

export interface ParserSpec {
  readonly mimetype: string
  readonly limits: ParseLimits
  /** The languages of pages that it is to recognise; absent where it only reads text. */
  readonly ocrLanguages?: readonly DocumentLanguage[]
}

const PARSER_FILE = path.join(import.meta.dirname, 'parser-main.ts')
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

/** The only files that a parser process may read: libraries, parsers, and the package.json that maps their imports. */
const READABLE_PATHS = [
  ...nodeModulesFolders(),
  path.join(REPOSITORY, 'server', 'parsing'),
  path.join(REPOSITORY, 'server', 'search', 'text'),
  path.join(REPOSITORY, 'contract'),
  path.join(REPOSITORY, 'package.json'),
]

/** Installed as a dependency, our libraries may lie in a node_modules further up. */
function nodeModulesFolders(): string[] {
  const folders: string[] = []
  for (let folder = REPOSITORY; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules')
    if (existsSync(candidate)) folders.push(candidate)
    if (folder === path.dirname(folder)) return folders
  }
}

/** Decoding pictures takes a native library; no other reader may load one. */
export const isImage = (mimetype: string): boolean => fileTypeOf(mimetype)?.parser === 'image'

/** How Node is told to let the child read the libraries and do nothing else. */
export const sandboxFlags = ({ heapMegabytes }: ParseLimits, mimetype: string): string[] => [
  '--permission',
  ...(isImage(mimetype) ? ['--allow-addons'] : []),
  ...READABLE_PATHS.map((folder) => `--allow-fs-read=${folder}`),
  `--max-old-space-size=${heapMegabytes}`,
  // A process that waits for its file would otherwise throw away what it has compiled for it.
  '--no-flush-bytecode',
  '--no-flush-liftoff-code',
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
]

/** Of util-linux: what it starts is ended by the kernel when we end, however we do, and even where it was stopped. */
const SETPRIV = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] as const
let isSetprivUsable: boolean | undefined

/** Looked for once: other systems have none, or one that cannot do this. */
function canUseSetpriv(): boolean {
  const [command, ...args] = SETPRIV
  return (isSetprivUsable ??= spawnSync(command, [...args, 'true'], { env: {}, stdio: 'ignore' }).status === 0)
}

/** Whether the process is a reader by now: what binds it to us takes a moment. */
function createExecCheck(pid = 0): () => boolean {
  let isReader = false
  return () => (isReader ||= !['setpriv', undefined].includes(readProcessName(pid)))
}

function readProcessName(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch (error) {
    // It may be over already.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}

interface StartOptions {
  /** Loads what recognises pages before there is a file. */
  readonly isWarm?: boolean
  /** Whoever waits for an answer goes before it. */
  readonly backgroundThrottle?: BackgroundThrottle | undefined
}

export function startParser(
  { mimetype, limits, ocrLanguages: recognises }: ParserSpec,
  { isWarm: isReady = false, backgroundThrottle }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const [command, ...args] = canUseSetpriv() ? ([...SETPRIV, process.execPath] as const) : ([process.execPath] as const)
  const child = spawn(
    command,
    [
      ...args,
      ...sandboxFlags(limits, mimetype),
      PARSER_FILE,
      mimetype,
      ...(isReady && recognises ? [JSON.stringify(recognises)] : []),
    ],
    { env: {}, cwd: REPOSITORY, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  if (child.pid !== undefined) lowerPriority(child.pid)
  if (canUseSetpriv()) backgroundThrottle?.throttle(child, createExecCheck(child.pid))
  return child
}
