/** Starts parser processes: Node's permission model, an empty environment, low priority and a heap limit. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { DocumentLanguage } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'
import type { BackgroundThrottle } from '#server/base/background-throttling.ts'
import { codeOf } from '#server/base/errors.ts'
import { lowerPriority } from '#server/base/lower-priority.ts'
import type { ParseLimits } from './limits.ts'

export interface ParserSpec {
  readonly mimetype: string
  readonly limits: ParseLimits
  /** Languages for OCR; absent if the process only extracts text. */
  readonly ocrLanguages?: readonly DocumentLanguage[]
}

const PARSER_FILE = path.join(import.meta.dirname, 'parser-main.ts')
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

/** The only readable files: libraries, parsers, and the package.json that maps their imports. */
const READABLE_PATHS = [
  ...nodeModulesFolders(),
  path.join(REPOSITORY, 'server', 'parsing'),
  path.join(REPOSITORY, 'server', 'search', 'text'),
  path.join(REPOSITORY, 'contract'),
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
  ...(isImage(mimetype) ? ['--allow-addons'] : []),
  ...READABLE_PATHS.map((folder) => `--allow-fs-read=${folder}`),
  `--max-old-space-size=${heapMegabytes}`,
  // A waiting process must keep its compiled code.
  '--no-flush-bytecode',
  '--no-flush-liftoff-code',
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
]

/** util-linux: the kernel kills the started process when this one ends, even if it is stopped. */
const SETPRIV = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] as const
let isSetprivUsable: boolean | undefined

/** Checked once: other systems lack setpriv or its --pdeathsig. */
function canUseSetpriv(): boolean {
  const [command, ...args] = SETPRIV
  return (isSetprivUsable ??= spawnSync(command, [...args, 'true'], { env: {}, stdio: 'ignore' }).status === 0)
}

/** Returns a check whether setpriv has been replaced by Node in the process. */
function createExecCheck(pid = 0): () => boolean {
  let isReader = false
  return () => (isReader ||= !['setpriv', undefined].includes(readProcessName(pid)))
}

function readProcessName(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}

interface StartOptions {
  readonly isWarm?: boolean
  readonly backgroundThrottle?: BackgroundThrottle | undefined
}

export function startParser(
  { mimetype, limits, ocrLanguages }: ParserSpec,
  { isWarm = false, backgroundThrottle }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const [command, ...args] = canUseSetpriv() ? ([...SETPRIV, process.execPath] as const) : ([process.execPath] as const)
  const child = spawn(
    command,
    [
      ...args,
      ...sandboxFlags(limits, mimetype),
      PARSER_FILE,
      mimetype,
      ...(isWarm && ocrLanguages ? [JSON.stringify(ocrLanguages)] : []),
    ],
    { env: {}, cwd: REPOSITORY, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  if (child.pid !== undefined) lowerPriority(child.pid)
  if (canUseSetpriv()) backgroundThrottle?.throttle(child, createExecCheck(child.pid))
  return child
}
