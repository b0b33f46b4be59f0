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

export interface ReaderWish {
  readonly mimetype: string
  readonly limits: ParseLimits
  /** The languages of pages that it is to recognise; absent where it only reads text. */
  readonly recognises?: readonly DocumentLanguage[]
}

const CHILD_FILE = path.join(import.meta.dirname, 'child.ts')
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

/** The only files that a parser process may read: libraries, parsers, and the package.json that maps their imports. */
const READABLE = [
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
export const isPicture = (mimetype: string): boolean => fileTypeOf(mimetype)?.parser === 'image'

/** How Node is told to let the child read the libraries and do nothing else. */
export const readerFlags = ({ heapMegabytes }: ParseLimits, mimetype: string): string[] => [
  '--permission',
  ...(isPicture(mimetype) ? ['--allow-addons'] : []),
  ...READABLE.map((folder) => `--allow-fs-read=${folder}`),
  `--max-old-space-size=${heapMegabytes}`,
  // A process that waits for its file would otherwise throw away what it has compiled for it.
  '--no-flush-bytecode',
  '--no-flush-liftoff-code',
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
]

/** Of util-linux: what it starts is ended by the kernel when we end, however we do, and even where it was stopped. */
const BINDER = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] as const
let hasBinder: boolean | undefined

/** Looked for once: other systems have none, or one that cannot do this. */
function canBind(): boolean {
  const [command, ...args] = BINDER
  return (hasBinder ??= spawnSync(command, [...args, 'true'], { env: {}, stdio: 'ignore' }).status === 0)
}

/** Whether the process is a reader by now: what binds it to us takes a moment. */
function isBound(pid = 0): () => boolean {
  let isReader = false
  return () => (isReader ||= !['setpriv', undefined].includes(nameOf(pid)))
}

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch (error) {
    // It may be over already.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}

interface ReaderSurroundings {
  /** Loads what recognises pages before there is a file. */
  readonly isReady?: boolean
  /** Whoever waits for an answer goes before it. */
  readonly backgroundThrottle?: BackgroundThrottle | undefined
}

export function startReader(
  { mimetype, limits, recognises }: ReaderWish,
  { isReady = false, backgroundThrottle }: ReaderSurroundings = {},
): ChildProcessWithoutNullStreams {
  const [command, ...args] = canBind() ? ([...BINDER, process.execPath] as const) : ([process.execPath] as const)
  const child = spawn(
    command,
    [
      ...args,
      ...readerFlags(limits, mimetype),
      CHILD_FILE,
      mimetype,
      ...(isReady && recognises ? [JSON.stringify(recognises)] : []),
    ],
    { env: {}, cwd: REPOSITORY, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  if (child.pid !== undefined) lowerPriority(child.pid)
  if (canBind()) backgroundThrottle?.throttle(child, isBound(child.pid))
  return child
}
