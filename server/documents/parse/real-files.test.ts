/** The files of ../shared/data/dev, where they are: expected sentences on their pages, hostile files with a reason. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readDocument } from '#test/read-document.ts'

const folder = process.env['ALCOVE_TEST_DATA'] ?? path.resolve(import.meta.dirname, '../../../../shared/data/dev')
const isThere = existsSync(path.join(folder, 'documents/manifest.json'))
if (!isThere) console.log(`skipped: no real files in ${folder} (ALCOVE_TEST_DATA names the folder)`)

const documents = z.array(
  z.object({
    file: z.string(),
    type: z.string(),
    expect: z.array(z.object({ page: z.int().nullable(), text: z.string() })),
    fails: z.string().nullish(),
    ocr: z.boolean().nullish(),
  }),
)
const hostile = z.array(
  z.object({ file: z.string(), expect: z.enum(['accepted', 'rejected at upload', 'fails with a reason']) }),
)

function readManifest<T>(name: string, schema: z.ZodType<T>): T | [] {
  return isThere ? schema.parse(JSON.parse(readFileSync(path.join(folder, name), 'utf8'))) : []
}

const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replaceAll(/[\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/\s+/g, ' ')

/** " | " separates cells, to be found in that order. */
function holds(text: string, expected: string): boolean {
  let from = 0
  return plain(expected)
    .split(' | ')
    .every((cell) => {
      const at = plain(text).indexOf(cell, from)
      from = at + cell.length
      return at >= 0
    })
}

const READ_NOW = new Set(['pdf', 'docx', 'txt'])

describe.runIf(isThere)('real files', () => {
  for (const entry of readManifest('documents/manifest.json', documents)) {
    const read = () => readDocument(readFileSync(path.join(folder, 'documents', entry.file)), entry.file)
    if (entry.fails === 'encrypted' && entry.type !== 'doc') {
      test(
        `${entry.file} is refused as encrypted`,
        async () => expect(await read()).toMatchObject({ failure: 'encrypted' }),
        60_000,
      )
    } else if (!READ_NOW.has(entry.type)) {
      test(
        `${entry.file} ends with a reason`,
        async () => expect(await read()).toMatchObject({ failure: 'unsupported' }),
        60_000,
      )
    } else if (entry.ocr === true) {
      test(
        `${entry.file} holds no text`,
        async () => expect(await read()).toMatchObject({ failure: 'no_text' }),
        60_000,
      )
    } else {
      test(`${entry.file} holds what is expected where it is expected`, async () => {
        const { pages, failure } = await read()
        expect(failure).toBeUndefined()
        for (const { page, text } of entry.expect) {
          const searched =
            page === null ? pages.map((each) => each.text).join('\n') : pages.find((each) => each.page === page)?.text
          expect(holds(searched ?? '', text), `page ${page ?? 'any'}: ${text}`).toBe(true)
        }
        for (const { text, items } of pages) {
          for (const [offset, , inItem, length] of items ?? [])
            expect(inItem === 0 && offset + length <= text.length).toBe(true)
        }
      }, 90_000)
    }
  }
})

/** What is really there may be read, says the manifest of these. */
const MAY_BE_READ = new Set(['truncated.pdf', 'external-entity.docx', 'deep-nesting.docx'])

describe.runIf(isThere)('hostile files', () => {
  for (const { file, expect: expected } of readManifest('hostile/manifest.json', hostile)) {
    test(`${file}: ${expected}`, async () => {
      const { pages, failure } = await readDocument(readFileSync(path.join(folder, 'hostile', file)), file)
      if (expected === 'rejected at upload') expect(['rejected', 'damaged']).toContain(failure)
      else if (expected === 'accepted') expect([undefined, 'unsupported']).toContain(failure)
      else if (!MAY_BE_READ.has(file)) expect(failure).toBeDefined()
      for (const { text } of pages) expect(text).not.toContain('root:')
    }, 90_000)
  }
})
