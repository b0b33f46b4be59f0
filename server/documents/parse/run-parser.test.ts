import { execFile } from 'node:child_process'
import path from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/limits.ts'
import { makeDocx, makeZip } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { readDocument } from '#test/read-document.ts'
import { PARSE_LIMITS, readerFlags, runParser } from './run-parser.ts'

const run = promisify(execFile)
const SEAL = path.join(import.meta.dirname, 'seal-network.ts')

/** Runs a line of code with the rights of a reader and answers what it was told. */
async function tryAsReader(code: string): Promise<string> {
  const program = `
    import { sealNetwork } from ${JSON.stringify(SEAL)}
    sealNetwork()
    try { ${code}; console.log('done') } catch (error) { console.log(error.code ?? error.message) }`
  const { stdout } = await run(process.execPath, [...readerFlags(PARSE_LIMITS), '--input-type=module', '-e', program], {
    env: {},
  })
  return stdout.trim()
}

describe('the reading process', () => {
  test('runs at all with these rights', async () => {
    expect(await tryAsReader(`(await import('node:fs')).readFileSync(${JSON.stringify(SEAL)})`)).toBe('done')
  })

  test.each([
    ['a file of the system', `(await import('node:fs')).readFileSync('/etc/passwd')`, 'ERR_ACCESS_DENIED'],
    [
      'a file of the server',
      `(await import('node:fs')).readFileSync(${JSON.stringify(path.resolve('server/main.ts'))})`,
      'ERR_ACCESS_DENIED',
    ],
    ['writing', `(await import('node:fs')).writeFileSync('/tmp/alcove-escaped.txt', '')`, 'ERR_ACCESS_DENIED'],
    ['another process', `(await import('node:child_process')).execFileSync('true')`, 'ERR_ACCESS_DENIED'],
    ['a thread', `new (await import('node:worker_threads')).Worker('1', { eval: true })`, 'ERR_ACCESS_DENIED'],
    ['the network', `(await import('node:net')).connect(80, '127.0.0.1')`, 'a reader of files has no network'],
    ['fetch', `fetch('http://127.0.0.1')`, 'fetch is not defined'],
  ])('is refused %s', async (_name, code, refusal) => {
    expect(await tryAsReader(code)).toBe(refusal)
  })

  test('has an empty environment', async () => {
    expect(await tryAsReader(`if (Object.keys(process.env).length > 0) throw new Error('something')`)).toBe('done')
  })

  test('is not started for a job that was stopped before', async () => {
    const pages = runParser({
      bytes: Readable.from([]),
      size: 0,
      mimetype: UPLOAD_TYPES.txt,
      signal: AbortSignal.abort(new Error('stopped')),
    })
    await expect(pages.next()).rejects.toThrow('stopped')
  })

  test('is ended when nobody wants the rest', async () => {
    let child = 0
    const bytes = makePdf(Array.from({ length: 200 }, () => 'A page. '.repeat(200)))
    const signal = new AbortController().signal
    for await (const part of runParser({
      bytes: Readable.from([bytes]),
      size: bytes.length,
      mimetype: UPLOAD_TYPES.pdf,
      signal,
      onProcess: (pid) => (child = pid),
    })) {
      if ('text' in part) break
    }
    expect(() => process.kill(child, 0)).toThrow()
  })
})

describe('reading a pdf', () => {
  test('keeps pages apart, joins lines and maps every character to its item', async () => {
    const { pages } = await readDocument(
      makePdf(['# Terms\n\nThe notice period is three months. (see annex)\n\nSecond paragraph.', 'Another page: 5 €']),
      'a.pdf',
    )
    expect(pages.map(({ text }) => text)).toEqual([
      'Terms\n\nThe notice period is three months. (see annex)\n\nSecond paragraph.',
      'Another page: 5 €',
    ])
    expect(
      pages[0]?.items?.map(([offset, index, inItem, length]) => [
        pages[0]?.text.slice(offset, offset + length),
        index,
        inItem,
      ]),
    ).toEqual([
      ['Terms', 0, 0],
      ['The notice period is three months. (see annex)', expect.any(Number), 0],
      ['Second paragraph.', expect.any(Number), 0],
    ])
    expect(pages[0]?.headings).toEqual([[0, 'Terms']])
  })
})

describe('reading a docx', () => {
  test('begins a section at a heading and keeps cells of a row together', async () => {
    const long = 'A sentence that is repeated. '.repeat(40).trim()
    const { pages } = await readDocument(
      makeDocx([
        { heading: 'One' },
        { paragraph: long },
        { heading: 'Two' },
        {
          rows: [
            ['Grain', 'Corn, Rye'],
            ['Leaves', 'Ash'],
          ],
        },
      ]),
      'a.docx',
    )
    expect(pages.map(({ page, text }) => [page, text])).toEqual([
      [1, `One\n\n${long}`],
      [2, 'Two\n\nGrain | Corn, Rye\nLeaves | Ash'],
    ])
    expect(pages[1]?.headings).toEqual([[0, 'Two']])
  })

  test('refuses what declares more than it may unpack to', async () => {
    const bomb = makeZip([
      { name: '[Content_Types].xml', bytes: Buffer.from('<Types/>') },
      { name: 'word/document.xml', bytes: Buffer.from('<w:document/>'), declaredSize: 200 * 1024 * 1024 },
    ])
    expect(await readDocument(bomb, 'bomb.docx')).toMatchObject({ failure: 'too_large' })
  })
})

describe('reading a txt', () => {
  test('groups paragraphs to sections of about 3,000 characters', async () => {
    const paragraph = 'Words in a paragraph. '.repeat(50).trim()
    const { pages } = await readDocument(
      Buffer.from(Array.from({ length: 9 }, () => paragraph).join('\r\n\r\n')),
      'a.txt',
    )
    expect(pages.length).toBeGreaterThan(3)
    for (const { text } of pages) expect(text.length).toBeLessThanOrEqual(3_000)
    expect(pages.map(({ text }) => text).join('\n\n')).toBe(Array.from({ length: 9 }, () => paragraph).join('\n\n'))
  })

  test.each([
    ['utf-8 with a mark', Buffer.from('\ufeffGrüße aus Köln')],
    ['utf-16le with a mark', Buffer.from('\ufeffGrüße aus Köln', 'utf16le')],
    ['latin-1', Buffer.from('Grüße aus Köln', 'latin1')],
  ])('decodes %s', async (_name, bytes) => {
    expect((await readDocument(bytes, 'a.txt')).pages.map(({ text }) => text)).toEqual(['Grüße aus Köln'])
  })

  test('drops NUL characters, which the database cannot hold', async () => {
    expect(
      (
        await readDocument(
          Buffer.from('A note\0 with three\0 zero bytes in it, and more words around them.\0'),
          'a.txt',
        )
      ).pages.map(({ text }) => text),
    ).toEqual(['A note with three zero bytes in it, and more words around them.'])
  })
})
