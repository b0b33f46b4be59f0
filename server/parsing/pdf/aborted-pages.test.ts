/** The engine aborts in the middle of a page, as WebAssembly does on unexpected input. */
import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import type { ParsedPart } from '#server/parsing/page.ts'
import { startParser } from '#server/parsing/sandbox/parser-process.ts'
import { runParser } from '#server/parsing/sandbox/run-parser.ts'
import { drawText, makeScannedPdf } from '#test/make-scan.ts'
import { parse } from './parse-pdf.ts'

vi.mock('tesseract.js-core/tesseract-core-relaxedsimd.js', () => ({
  default: async () => ({
    FS: { writeFile: () => {}, unlink: () => {} },
    TessBaseAPI: class {
      Init = () => 0
      SetVariable = () => {}
      SetImageFile = () => 0
      Recognize() {
        throw Object.assign(new Error('Aborted()'), { name: 'RuntimeError' })
      }
    },
  }),
}))

const scan = async () => {
  const picture = await drawText('The notice period of this contract is three months. '.repeat(6))
  return makeScannedPdf([{ picture }, { picture }, { picture }])
}

test('an aborted page is a gap, and another process gets the remaining pages', async () => {
  const parts: ParsedPart[] = []
  for await (const part of parse(new Uint8Array(await scan()), { languages: ['eng'], pages: [1, 2, 3] }))
    parts.push(part)
  expect(parts).toEqual([
    { pages: 3 },
    { recognising: 1 },
    { page: 1, text: '', items: [], headings: [], blocks: [], gap: 'not_recognised' },
    { deferred: 2 },
    { deferred: 3 },
  ])
})

test('another process reads deferred pages', async () => {
  const bytes = await scan()
  const said = [
    { part: { recognising: 1 } },
    { part: { page: 1, text: '', gap: 'not_recognised' } },
    { part: { deferred: 2 } },
    { part: { deferred: 3 } },
    { done: true },
  ]
  const program = `for (const line of ${JSON.stringify(said)}) console.log(JSON.stringify(line)); process.stdin.resume()`
  let recognising = 0
  const pages: ParsedPart[] = []
  for await (const part of runParser({
    open: async () => Readable.from([bytes]),
    size: bytes.length,
    mimetype: UPLOAD_TYPES.pdf,
    languages: ['eng'],
    signal: new AbortController().signal,
    warmParsers: {
      take(wish) {
        if (wish.ocrLanguages) recognising += 1
        return wish.ocrLanguages && recognising === 1 ? spawn(process.execPath, ['-e', program]) : startParser(wish)
      },
      stop: () => {},
    },
  }))
    if ('text' in part) pages.push(part)
  expect(recognising).toBe(2)
  expect(pages[0]).toEqual({ page: 1, text: '', gap: 'not_recognised' })
  for (const [index, part] of pages.slice(1).entries()) {
    expect(part).toMatchObject({ page: index + 2 })
    expect('text' in part && part.text).toContain('three months')
  }
  expect(pages).toHaveLength(3)
})
