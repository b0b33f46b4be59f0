/** Processes that remain zombies because their parent never reads their exit code. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** prctl(2) system call number by architecture. */
const PRCTL = { x64: 157, arm64: 167 }[process.arch as string]
const PR_SET_CHILD_SUBREAPER = 36

export const canAdopt =
  process.platform === 'linux' && PRCTL !== undefined && spawnSync('perl', ['-e', '1']).status === 0

/** Command that runs another one as a child, adopts its orphaned descendants, and reaps none of them. */
export const ADOPTS_AND_NEVER_REAPS: readonly string[] = [
  'perl', '-e', `syscall(${PRCTL}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0) == 0 or die; fork or exec @ARGV; sleep 1 while 1`,
] // prettier-ignore

/** Starts a shell command whose parent never reaps it. */
export async function spawnUnreaped(command: string): Promise<{ pid: number; endParent: () => void }> {
  const parent = spawn('sh', ['-c', `${command} & echo $!; exec sleep 600`], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer]
  return { pid: Number(chunk.toString()), endParent: () => void parent.kill('SIGKILL') }
}

/** Resolves when the process has ended unreaped. */
export async function waitForZombie(pid: number): Promise<void> {
  while ((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ').at(-1)?.[0] !== 'Z') await delay(5)
}
