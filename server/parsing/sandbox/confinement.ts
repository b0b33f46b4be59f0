/**
 * Confines processes that read people's files by the operating system, in addition to Node's permission model: resource
 * limits everywhere; with util-linux on Linux, namespaces without network or other processes, and another user.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { codeOf } from '#server/base/errors.ts'

export interface Confinement {
  /** For the log. */
  readonly name: 'namespaces and another user' | 'namespaces' | 'another user' | 'no new privileges' | 'limits alone'
  /** Program and arguments that run what follows them. */
  readonly command: readonly string[]
  /** Whether the kernel kills the process when this one ends, even if it is stopped. */
  readonly endsWithParent: boolean
}

/** Nothing can be written to a file, not even by native code; no core dump; few open files. */
const LIMITS = ['/bin/sh', '-c', 'ulimit -c 0; ulimit -f 0; ulimit -n 256; exec env -i "$@"', 'sh'] as const
const END_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL'] as const
const NAMESPACES = ['--net', '--ipc', '--uts', '--pid', '--fork', '--kill-child=KILL'] as const
/** The overflow user of the kernel, who owns no files. */
const OVERFLOW_USER = 65_534
const AS_OVERFLOW_USER = [
  `--reuid=${OVERFLOW_USER}`,
  `--regid=${OVERFLOW_USER}`,
  '--clear-groups',
  '--no-new-privs',
] as const
/** Reads through folders that are closed to others, as below a home of root; still writes nothing. */
const PASS_CLOSED_FOLDERS = ['--inh-caps=-all,+dac_read_search', '--ambient-caps=+dac_read_search'] as const
const WITHOUT_CAPABILITIES = ['--inh-caps=-all', '--bounding-set=-all'] as const

function listConfinements(isRoot: boolean): Confinement[] {
  const inNamespaces = [[...NAMESPACES, '--mount-proc'], NAMESPACES]
  const base = { endsWithParent: true }
  const users = isRoot
    ? [
        [...END_WITH_PARENT, ...AS_OVERFLOW_USER, ...WITHOUT_CAPABILITIES],
        [...END_WITH_PARENT, ...AS_OVERFLOW_USER, ...PASS_CLOSED_FOLDERS],
      ]
    : [[...END_WITH_PARENT, '--no-new-privs']]
  const owners = isRoot ? [] : ['--user', '--map-current-user']
  return [
    ...inNamespaces.flatMap((namespaces) =>
      users.map((user): Confinement => ({
        ...base,
        name: isRoot ? 'namespaces and another user' : 'namespaces',
        command: [...LIMITS, ...END_WITH_PARENT, 'unshare', ...owners, ...namespaces, ...user],
      })),
    ),
    ...users.map((user): Confinement => ({
      ...base,
      name: isRoot ? 'another user' : 'no new privileges',
      command: [...LIMITS, ...user],
    })),
    { name: 'limits alone', command: LIMITS, endsWithParent: false },
  ]
}

let chosen: Confinement | undefined

/** The first that works here with files that a parser must read. Probed once, in some 20 ms. */
export function chooseConfinement(mustRead: readonly string[]): Confinement {
  chosen ??= findWorking(mustRead)
  return chosen
}

function findWorking(mustRead: readonly string[]): Confinement {
  const probe = `test -x "$1" || exit 1; shift; for file; do test -r "$file" || exit 1; done`
  const works = ({ command: [program = '', ...args] }: Confinement) =>
    spawnSync(program, [...args, '/bin/sh', '-c', probe, 'sh', process.execPath, ...mustRead], {
      env: {},
      cwd: '/',
      stdio: 'ignore',
    }).status === 0
  // Only by its children the kernel tells which process runs behind `unshare`.
  const canFindChildren = existsSync(`/proc/self/task/${process.pid}/children`)
  const all = listConfinements(process.getuid?.() === 0)
  const candidates = process.platform === 'linux' ? all : all.slice(-1)
  const found = candidates.find((one) => (canFindChildren || !one.command.includes('unshare')) && works(one))
  return found ?? { name: 'limits alone', command: [], endsWithParent: false }
}

const WRAPPERS = new Set(['sh', 'dash', 'bash', 'env', 'setpriv', 'unshare'])

function readProcFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined
    throw error
  }
}

/** Returns the process of Node behind the wrappers, once it runs; everywhere but on Linux the process itself. */
export function findConfinedPid(pid: number | undefined): number | undefined {
  if (process.platform !== 'linux' || pid === undefined) return pid
  const name = readProcFile(`/proc/${pid}/comm`)
  if (name === undefined) return undefined
  if (!WRAPPERS.has(name)) return pid
  const [child] = (readProcFile(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ')
  return child ? findConfinedPid(Number(child)) : undefined
}

/** Signals the wrappers as well: stopping `unshare` alone would not stop the process behind it. */
export function signalConfined({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined && exitCode === null && signalCode === null) signalGroup(pid, signal)
}

/**
 * Kills the process behind a wrapper that was killed first. The kernel does so only once that process has asked for it, and
 * one that had not would read on, out of reach, and judge a file that is cut off. To be called as soon as the wrapper ends.
 */
export function killOrphans({ pid }: ChildProcess): void {
  if (pid !== undefined) signalGroup(pid, 'SIGKILL')
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
