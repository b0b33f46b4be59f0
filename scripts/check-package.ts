/**
 * Packs the npm package, installs it into an empty prefix without install scripts, and starts it as a user with an empty
 * home who may not write to it: loads the page, signs in, uploads, asks, backs up, restores. Prints one line of JSON.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'

const ROOT = path.resolve(import.meta.dirname, '..')
const MAX_PACKED_BYTES = 10_000_000
const MAX_INSTALLED_BYTES = 1_000_000_000
/** The overflow user, who owns nothing. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const PORT = '3989'

const packSchema = z.tuple([
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
])
const visitSchema = z.object({ files: z.number(), answers: z.number(), digest: z.string() })

function requireThat(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(sentence)
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, error } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error || status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `exit ${status}`}`)
  return stdout
}

const folder = mkdtempSync(path.join(tmpdir(), 'alcove-package-'))
chmodSync(folder, 0o711)
const prefix = path.join(folder, 'prefix')
const home = path.join(folder, 'home')
mkdirSync(home, { mode: 0o700 })
if (USER.uid !== undefined) chownSync(home, USER.uid, USER.gid)

/** The environment of a login: the Node of this machine first on PATH, nothing of npm. */
const environment = { HOME: home, PATH: `${prefix}/bin:${process.env['PATH'] ?? ''}`, PORT, LOG_LEVEL: 'warn' }

async function alcove(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(`${prefix}/bin/alcove`, args, {
    ...USER,
    cwd: home,
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close')
  requireThat(child.exitCode === 0, `alcove ${args.join(' ')} ended with ${child.exitCode}`)
  return output
}

/** Visits a server that is started for it. */
async function visit(more: Readonly<Record<string, string>>, ...args: string[]): Promise<z.output<typeof visitSchema>> {
  const child = spawn(`${prefix}/bin/alcove`, [], {
    ...USER,
    cwd: home,
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    await new Promise<void>((resolve, reject) => {
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        if (output.includes('is ready at')) resolve()
      })
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
      child.once('error', reject)
    })
    const visitor = [path.join('scripts', 'visit-installation.ts'), `http://127.0.0.1:${PORT}`, ...args]
    return visitSchema.parse(JSON.parse(run(process.execPath, visitor)))
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

try {
  const [{ filename, size, files }] = packSchema.parse(
    JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder])),
  )
  requireThat(size <= MAX_PACKED_BYTES, `the package has ${size} bytes, more than ${MAX_PACKED_BYTES}`)
  const sources = files.filter((file) => /\.tsx?$|\.test\./.test(file.path))
  requireThat(sources.length === 0, `the package holds ${sources[0]?.path}`)
  run('npm', [
    'install',
    '--global',
    '--ignore-scripts',
    '--loglevel=error',
    '--prefix',
    prefix,
    path.join(folder, filename),
  ])
  const installed = Number(run('du', ['--summarize', '--apparent-size', '--block-size=1', prefix]).split(/\s/)[0])
  requireThat(installed <= MAX_INSTALLED_BYTES, `the installed package has ${installed} bytes`)

  const seen = await visit({})
  const again = await visit({}, '--again')
  requireThat(again.digest === seen.digest, 'not everything is found again')
  const place = path.join(home, 'backups')
  await alcove(['backup', place])
  const restored = { XDG_DATA_HOME: path.join(home, 'restored') }
  await alcove(['restore', place], restored)
  requireThat((await visit(restored, '--again')).digest === seen.digest, 'the backup restores not everything')
  const version = (await alcove(['version'])).trim()
  console.log(
    JSON.stringify({ version, packedBytes: size, installedBytes: installed, files: seen.files, answers: seen.answers }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
