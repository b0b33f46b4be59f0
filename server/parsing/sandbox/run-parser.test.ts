import { execFile } from 'node:child_process'
import path from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { makeDocx, makeZip } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { readDocument } from '#test/read-document.ts'
import { PARSE_LIMITS } from './limits.ts'
import { sandboxFlags } from './parser-process.ts'
import { runParser } from './run-parser.ts'

const run = promisify(execFile)
const PARSE_IMAGE = path.join(import.meta.dirname, '../image/parse-image.ts')
const SCREENSHOT = path.resolve('docs/screenshot.png')
const PARSER = path.join(import.meta.dirname, '../parser-main.ts')

async function runInSandbox(code: string, mimetype: string = UPLOAD_TYPES.pdf): Promise<string> {
  const program = `
    try { ${code}; console.log('done') } catch (error) { console.log(error.code ?? error.message) }`
  const flags = sandboxFlags(PARSE_LIMITS, mimetype)
  const { stdout } = await run(process.execPath, [...flags, '--input-type=module', '-e', program], { env: {} })
  return stdout.trim()
}

describe.each([
  ['of a pdf', UPLOAD_TYPES.pdf],
  ['of a picture', UPLOAD_TYPES.png],
])('the reading process %s', (_type, mimetype) => {
  test('runs at all with these rights', async () => {
    expect(await runInSandbox(`(await import('node:fs')).readFileSync(${JSON.stringify(PARSER)})`, mimetype)).toBe(
      'done',
    )
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
  ])('is refused %s', async (_name, code, refusal) => {
    expect(await runInSandbox(code, mimetype)).toBe(refusal)
  })

  test('has an empty environment', async () => {
    const code = `if (Object.keys(process.env).length > 0) throw new Error('something')`
    expect(await runInSandbox(code, mimetype)).toBe('done')
  })
})

describe('native code', () => {
  const load = `(await import('sharp')).default`

  test.each(['pdf', 'docx', 'doc', 'xls', 'xlsx', 'txt'] as const)('is refused to the reader of a %s', async (type) => {
    expect(await runInSandbox(load, UPLOAD_TYPES[type])).not.toBe('done')
  })

  test('is allowed where pictures are decoded, and opens none but given bytes of the types that we take', async () => {
    const opening = (what: string) => `${load}; await import(${JSON.stringify(PARSE_IMAGE)}); await ${what}`
    const svg = `sharp(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'))`
    const sharp = `(await import('sharp')).default`
    expect(await runInSandbox(load, UPLOAD_TYPES.png)).toBe('done')
    expect(await runInSandbox(opening(`${svg.replace('sharp', sharp)}.metadata()`), UPLOAD_TYPES.png)).not.toBe('done')
    expect(
      await runInSandbox(opening(`${sharp}(${JSON.stringify(SCREENSHOT)}).metadata()`), UPLOAD_TYPES.png),
    ).not.toBe('done')
  })
})

describe('the parent', () => {
  test('is not started for a job that was stopped before', async () => {
    const pages = runParser({
      open: async () => Readable.from([]),
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
      open: async () => Readable.from([bytes]),
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

  test('whose styles are broken still gives its words', async () => {
    const parts = {
      '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
      'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`,
      'word/styles.xml': '<w:styles><broken',
      'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Words that are left.</w:t></w:r></w:p></w:body></w:document>`,
    }
    const file = makeZip(Object.entries(parts).map(([name, xml]) => ({ name, bytes: Buffer.from(xml) })))
    expect((await readDocument(file, 'a.docx')).pages.map(({ text }) => text)).toEqual(['Words that are left.'])
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

  test('of nothing but white space says that there is no text', async () => {
    expect(await readDocument(Buffer.from(' \n\n\t\n'), 'a.txt')).toMatchObject({ pages: [], failure: 'no_text' })
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
