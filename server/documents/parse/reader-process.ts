/**
 * Starts the processes that read files: Node's permission model, an empty environment, low priority and a heap limit. Each
 * reads one file and ends.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type DocumentLanguage } from '#contract/document.ts'
import { UPLOAD_TYPES } from '#contract/limits.ts'
import { lowerPriority, type ParseLimits } from './watch-child.ts'

export interface ReaderWish {
  readonly mimetype: string
  readonly limits: ParseLimits
  /** The languages of pages that it is to recognise; absent where it only reads text. */
  readonly recognises?: readonly DocumentLanguage[]
}

const CHILD_FILE = path.join(import.meta.dirname, 'child.ts')
const REPOSITORY = path.resolve(import.meta.dirname, '../../..')

/** What the child may read: the libraries, our readers, and the package.json that names their imports. */
const READABLE = [
  ...nodeModulesFolders(),
  path.join(REPOSITORY, 'server', 'documents'),
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
export const isPicture = (mimetype: string): boolean => mimetype === UPLOAD_TYPES.png || mimetype === UPLOAD_TYPES.jpg

/** How Node is told to let the child read the libraries and do nothing else. */
export const readerFlags = ({ heapMegabytes }: ParseLimits, mimetype: string): string[] => [
  '--permission',
  ...(isPicture(mimetype) ? ['--allow-addons'] : []),
  ...READABLE.map((folder) => `--allow-fs-read=${folder}`),
  `--max-old-space-size=${heapMegabytes}`,
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
]

/** @param isReady loads what recognises pages before there is a file. */
export function startReader(
  { mimetype, limits, recognises }: ReaderWish,
  { isReady = false } = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(
    process.execPath,
    [
      ...readerFlags(limits, mimetype),
      CHILD_FILE,
      mimetype,
      ...(isReady && recognises ? [JSON.stringify(recognises)] : []),
    ],
    { env: {}, cwd: REPOSITORY, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  if (child.pid !== undefined) lowerPriority(child.pid)
  return child
}
