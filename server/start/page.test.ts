import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createPageRoutes } from './page.ts'

test('the page runs only its own code, in no frame, and sends no referrer', async () => {
  const builtDir = await mkdtemp(path.join(tmpdir(), 'alcove-page-'))
  onTestFinished(() => rm(builtDir, { recursive: true }))
  await writeFile(path.join(builtDir, 'index.html'), '<!doctype html><title>Alcove</title>')
  const routes = createPageRoutes({ builtDir, basePath: '', connectTo: ['https://project.example'] })
  for (const [at, status] of [
    ['/', 200],
    ['/login', 200],
    ['/nowhere', 404],
  ] as const) {
    const { status: answered, headers } = await routes.request(`https://alcove.example${at}`)
    expect(answered).toBe(status)
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self' ws://alcove.example wss://alcove.example https://project.example",
      "worker-src 'self'",
      "manifest-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  }
})

test('one build serves any path: its addresses get the path of the public address', async () => {
  const builtDir = await mkdtemp(path.join(tmpdir(), 'alcove-page-'))
  onTestFinished(() => rm(builtDir, { recursive: true }))
  const built = '<html data-base=""><script src="./assets/a.js"></script><link href="./favicon.svg"><p>./x</p>'
  await writeFile(path.join(builtDir, 'index.html'), built)
  for (const basePath of ['', '/alcove', '/team/alcove']) {
    const routes = createPageRoutes({ builtDir, basePath, connectTo: [] })
    expect(await (await routes.request('https://alcove.example/nowhere/at/all')).text()).toBe(
      `<html data-base="${basePath}"><script src="${basePath}/assets/a.js"></script><link href="${basePath}/favicon.svg"><p>./x</p>`,
    )
  }
})
