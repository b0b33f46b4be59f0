import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { drawText, makePng } from '#test/make-scan.ts'
import { readDocument } from '#test/read-document.ts'
import type { ParserSpec } from './parser-process.ts'
import { PARSE_LIMITS } from './limits.ts'
import { createWarmParsers, type WarmParsers } from './warm-processes.ts'

const SPEC = { mimetype: UPLOAD_TYPES.png, limits: PARSE_LIMITS, ocrLanguages: ['eng'] } as const

let parsers: WarmParsers
beforeEach(() => {
  parsers = createWarmParsers()
})
afterEach(() => parsers.stop())

async function takeAndEnd(from: WarmParsers, wish: ParserSpec) {
  const child = from.take(wish)
  child.kill('SIGKILL')
  await once(child, 'close')
  return child
}

const isWarm = (child: { readonly spawnargs: readonly string[] }) => child.spawnargs.at(-1) === '["eng"]'

test('a picture is read by a process that was made ready, and each by one of its own', async () => {
  const letter = await makePng(await drawText('The notice period is three months.'))
  const taken: ReturnType<WarmParsers['take']>[] = []
  const noting: WarmParsers = {
    ...parsers,
    take(wish) {
      const child = parsers.take(wish)
      taken.push(child)
      return child
    },
  }
  for (let time = 0; time < 3; time += 1) {
    const { pages } = await readDocument(letter, 'letter.png', PARSE_LIMITS, ['eng'], noting)
    expect(pages.map(({ text }) => text)).toEqual(['The notice period is three months.'])
  }
  expect(taken.map(isWarm)).toEqual([false, true, true])
  expect(new Set(taken.map(({ pid }) => pid)).size).toBe(3)
})

test('a process that was made ready ends by itself when its parent does, without a file', async () => {
  await takeAndEnd(parsers, SPEC)
  const child = parsers.take(SPEC)
  child.stdin.end()
  await once(child, 'exit')
  expect([isWarm(child), child.killed]).toEqual([true, false])
})

test('a process that has waited long is ended, and one with other rights is not taken', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const short = createWarmParsers({ idleMs: 1_000 })
  await takeAndEnd(short, SPEC)
  const pdf = short.take({ ...SPEC, mimetype: UPLOAD_TYPES.pdf })
  vi.advanceTimersByTime(1_000)
  const picture = short.take(SPEC)
  expect([isWarm(pdf), isWarm(picture)]).toEqual([false, false])
  short.stop()
  for (const child of [pdf, picture]) child.kill('SIGKILL')
  vi.useRealTimers()
})

test('nothing is made ready by reading text alone, or after the end', async () => {
  const { mimetype, limits } = SPEC
  await takeAndEnd(parsers, { mimetype, limits })
  const afterText = await takeAndEnd(parsers, SPEC)
  parsers.stop()
  const afterEnd = await takeAndEnd(parsers, SPEC)
  expect([isWarm(afterText), isWarm(afterEnd)]).toEqual([false, false])
})

test.skipIf(!existsSync('/usr/bin/setpriv'))('a process that stands still ends with whoever started it', async () => {
  const program = `
    import { createBackgroundThrottle } from ${JSON.stringify(path.resolve('server/base/background-throttling.ts'))}
    import { startParser } from ${JSON.stringify(path.resolve('server/parsing/sandbox/parser-process.ts'))}
    const backgroundThrottle = createBackgroundThrottle({ processors: 1 })
    const parser = startParser(${JSON.stringify(SPEC)}, { backgroundThrottle })
    backgroundThrottle.beginForeground()
    console.log(parser.pid)
    setInterval(() => backgroundThrottle.beginForeground(), 1)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(parent.stdout, 'data')) as [Buffer]
  const stateOf = async () =>
    (await readFile(`/proc/${Number(said)}/stat`, 'utf8').catch(() => 'gone')).split(') ').at(-1)
  await vi.waitFor(async () => expect(await stateOf()).toMatch(/^T/), { interval: 1 })
  parent.kill('SIGKILL')
  // Linux reports an unreaped process as Z.
  await vi.waitFor(async () => expect(await stateOf()).toMatch(/^(gone|Z)/), { interval: 1 })
})
