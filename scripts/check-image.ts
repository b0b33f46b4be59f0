/**
 * Builds the image of the Dockerfile and uses it without a network: signs in, uploads, asks, stops, starts again with the
 * volume, finds everything, and backs up and restores. Needs root, Debian's package archive and npm; makes the base image
 * itself. Prints one line of JSON: bytes of the image, and its time to the first 200 against that of `npm start`. With
 * --built it uses the image of an earlier run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const ROOT = path.resolve(import.meta.dirname, '..')
const WORK = path.join(ROOT, 'node_modules', '.cache', 'image')
const IMAGE = 'alcove:check'
const PROGRAMS = { buildah: 'buildah', mmdebstrap: 'mmdebstrap', unshare: 'util-linux', ip: 'iproute2' }
const STORAGE = ['--root', `${WORK}/storage`, '--runroot', `${WORK}/run`, '--storage-driver', 'vfs']
const MAX_IMAGE_BYTES = 600_000_000
const MAX_STOP_SECONDS = 10
const MAX_START_RATIO = 1.5
const STARTS = 5

const imageSchema = z.object({
  OCIv1: z.object({
    config: z.object({
      User: z.string(),
      Env: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      Volumes: z.record(z.string(), z.object({})),
    }),
  }),
  Docker: z.object({ config: z.object({ Healthcheck: z.object({ Test: z.array(z.string()) }) }) }),
})

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error || status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `exit ${status}`}`)
  return stdout.trim()
}

const buildah = (...args: string[]) => run('buildah', [...STORAGE, ...args])

function requireThat(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(sentence)
}

function installPrograms(): void {
  const missing = Object.entries(PROGRAMS).filter(([program]) => spawnSync('which', [program]).status !== 0)
  if (missing.length === 0) return
  run('apt-get', ['update', '--quiet'])
  run('apt-get', ['install', '--yes', '--quiet', ...missing.map(([, name]) => name)], {
    DEBIAN_FRONTEND: 'noninteractive',
  })
}

/** The settings of npm on this machine, for the build alone: a secret is in no layer of the image. */
function writeNpmSettings(): { file: string; volumes: string[] } {
  const setting = (name: string) => run('npm', ['config', 'get', name])
  const own = setting('userconfig')
  const given = existsSync(own) ? [readFileSync(own, 'utf8')] : []
  const set = ['registry', 'cafile', 'proxy', 'https-proxy'].map((name) => [name, setting(name)] as const)
  const lines = set.filter(([, value]) => value !== 'null' && value !== 'undefined')
  const file = path.join(WORK, 'npmrc')
  writeFileSync(file, [...given, ...lines.map(([name, value]) => `${name}=${value}`)].join('\n'), { mode: 0o600 })
  const certificates = lines.find(([name]) => name === 'cafile')?.[1]
  const folder = certificates === undefined ? undefined : path.dirname(certificates)
  return { file, volumes: folder === undefined ? [] : ['--volume', `${folder}:${folder}:ro`] }
}

interface Image {
  /** Folder of its files. */
  readonly root: string
  readonly bytes: number
  readonly environment: readonly string[]
  readonly entry: readonly string[]
}

function build(): Image {
  const base = /^FROM .*?(node:\S+)/m.exec(readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? ''
  run('scripts/make-base-image.sh', [base, WORK], { BUILDAH: `buildah ${STORAGE.join(' ')}` })
  const { file, volumes } = writeNpmSettings()
  try {
    const options = ['--isolation', 'chroot', '--network', 'host', '--pull-never', '--format', 'docker']
    buildah('build', ...options, '--secret', `id=npmrc,src=${file}`, ...volumes, '--tag', IMAGE, '.')
  } finally {
    rmSync(file)
  }
  return describeImage()
}

function describeImage(): Image {
  const { OCIv1, Docker } = imageSchema.parse(JSON.parse(buildah('inspect', '--type', 'image', IMAGE)))
  const { User, Env, Entrypoint, Volumes } = OCIv1.config
  requireThat(/^[1-9]/.test(User), `the image runs as ${User}`)
  requireThat(Object.keys(Volumes).join() === '/data', `the volumes are ${Object.keys(Volumes).join()}`)
  requireThat(Docker.config.Healthcheck.Test.includes('health'), 'the image has no health check')
  const root = buildah('mount', buildah('from', '--pull-never', IMAGE))
  // Without the volumes of this build.
  const bytes = Number(
    run('du', ['--summarize', '--apparent-size', '--block-size=1', '--one-file-system', root]).split(/\s/)[0],
  )
  return { root, bytes, environment: Env, entry: Entrypoint }
}

interface Started {
  readonly seconds: number
  /** Runs in the network of the server. */
  readonly inNetwork: (...command: string[]) => string
  /** Runs in the container. */
  readonly enter: (...command: string[]) => string
  /** @returns seconds until it had ended */
  stop(): Promise<number>
}

const childOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Waits for the first 200. */
async function startServer(child: ChildProcess, port: number, isContained: boolean): Promise<Started> {
  const from = performance.now()
  const { pid = 0 } = child
  const ended = once(child, 'exit')
  const network = () => (isContained ? ['nsenter', `--net=/proc/${childOf(pid)}/ns/net`] : [])
  const inNetwork = (...command: string[]) => {
    const [program, ...args] = ['env', ...network(), ...command]
    return run(program, args)
  }
  const answers = () => {
    if (isContained && childOf(pid) === '') return false
    const [program, ...args] = [
      'env',
      ...network(),
      '/bin/bash',
      '-c',
      `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n' >&3 && head -1 <&3`,
    ]
    return spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).stdout.includes(' 200 ')
  }
  while (!answers()) {
    requireThat(child.exitCode === null && performance.now() - from < 120_000, 'the server does not start')
    await delay(10)
  }
  const seconds = (performance.now() - from) / 1000
  return {
    seconds,
    inNetwork,
    enter: (...command) =>
      run('nsenter', [`--target=${childOf(pid)}`, '--net', '--mount', '--pid', '--root', '--wd', ...command]),
    async stop() {
      const asked = performance.now()
      process.kill(isContained ? Number(childOf(pid)) : pid, 'SIGTERM')
      await ended
      requireThat(child.exitCode === 0, `the server ended with ${child.exitCode}`)
      return (performance.now() - asked) / 1000
    },
  }
}

const image = (() => {
  installPrograms()
  mkdirSync(WORK, { recursive: true })
  return process.argv.includes('--built') ? describeImage() : build()
})()
requireThat(image.bytes <= MAX_IMAGE_BYTES, `the image has ${image.bytes} bytes, more than ${MAX_IMAGE_BYTES}`)

const volume = mkdtempSync(path.join(tmpdir(), 'alcove-volume-'))
chownSync(volume, 1000, 1000)

const children = new Set<ChildProcess>()

/** One container: its arguments follow the entry point of the image. */
function contain(settings: readonly string[], ...args: string[]): ChildProcess {
  const namespaces = ['--net', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child']
  const command = [...image.environment, ...settings, ...image.entry, ...args]
  const child = spawn('/usr/bin/unshare', [...namespaces, 'scripts/run-contained.sh', image.root, volume, ...command], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

const SETTINGS = ['AUTH_AUTOCONFIRM=true', 'LOG_LEVEL=warn']
const startContainer = () => startServer(contain(SETTINGS), 3000, true)
async function runContained(settings: readonly string[], ...args: string[]): Promise<void> {
  const [code] = (await once(contain(settings, ...args), 'exit')) as [number | null]
  requireThat(code === 0, `alcove ${args.join(' ')} ended with ${code}`)
}

const visitSchema = z.object({ files: z.number(), answers: z.number(), digest: z.string() })
const visit = (server: Started, ...args: string[]) =>
  visitSchema.parse(
    JSON.parse(server.inNetwork(process.execPath, 'scripts/visit-installation.ts', 'http://127.0.0.1:3000', ...args)),
  )

const packageSchema = z.object({ scripts: z.object({ start: z.string() }) })

/** Runs what `npm start` runs over a copy of the data: once for its caches, then as often as the container. */
async function measureNpmStart(data: string): Promise<number[]> {
  const dataDir = path.join(volume, 'copy')
  // Without the owners, so that the copy belongs to this user.
  run('cp', ['--recursive', data, dataDir])
  chmodSync(volume, 0o711)
  const { scripts } = packageSchema.parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')))
  const seconds: number[] = []
  for (let start = 0; start <= STARTS; start += 1) {
    const child = spawn('/bin/sh', ['-c', scripts.start], {
      cwd: ROOT,
      env: { ...process.env, DATA_DIR: dataDir, PORT: '3990', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const server = await startServer(child, 3990, false)
    await server.stop()
    if (start > 0) seconds.push(server.seconds)
  }
  return seconds
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

try {
  const first = await startContainer()
  const seen = visit(first)
  requireThat(first.inNetwork('ip', 'route') === '', 'the container has a network')
  first.enter('/app/bin/alcove', 'health')
  const stops = [await first.stop()]
  const starts: number[] = []
  for (let start = 0; start < STARTS; start += 1) {
    const again = await startContainer()
    starts.push(again.seconds)
    if (start === 0) requireThat(visit(again, '--again').digest === seen.digest, 'not everything is found again')
    stops.push(await again.stop())
  }
  requireThat(Math.max(...stops) < MAX_STOP_SECONDS, `a stop took ${Math.max(...stops)} s`)

  await runContained(SETTINGS, 'backup', '/data/backups')
  await runContained([...SETTINGS, 'DATA_DIR=/data/restored'], 'restore', '/data/backups')
  const restored = await startServer(contain([...SETTINGS, 'DATA_DIR=/data/restored']), 3000, true)
  requireThat(visit(restored, '--again').digest === seen.digest, 'the backup restores not everything')
  await restored.stop()

  const npmStart = median(await measureNpmStart(path.join(volume, 'alcove')))
  const container = median(starts)
  const ratio = container / npmStart
  const round = (value: number) => Math.round(value * 100) / 100
  console.log(
    JSON.stringify({
      imageBytes: image.bytes,
      firstStart: round(first.seconds),
      start: round(container),
      npmStart: round(npmStart),
      ratio: round(ratio),
      longestStop: round(Math.max(...stops)),
      files: seen.files,
      answers: seen.answers,
    }),
  )
  requireThat(ratio <= MAX_START_RATIO, `the container starts in ${round(ratio)} times the time of npm start`)
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(volume, { recursive: true, force: true })
  buildah('rm', '--all')
  buildah('rmi', '--prune')
}
