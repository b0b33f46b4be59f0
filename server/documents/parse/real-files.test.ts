/** The files of ../shared/data/dev, where they are: expected sentences on their pages, hostile files with a reason. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { UNSURE_BELOW } from '#contract/document.ts'
import { readDocument } from '#test/read-document.ts'

const folder = process.env['ALCOVE_TEST_DATA'] ?? path.resolve(import.meta.dirname, '../../../../shared/data/dev')
const isThere = existsSync(path.join(folder, 'documents/manifest.json'))
if (!isThere) console.log(`skipped: no real files in ${folder} (ALCOVE_TEST_DATA names the folder)`)

const expectation = z.object({ page: z.int().nullable(), text: z.string() })
const documents = z.array(
  z.object({
    file: z.string(),
    type: z.string(),
    expect: z.array(expectation),
    fails: z.enum(['encrypted', 'no text']).nullish(),
    expect_ocr: z.array(expectation).optional(),
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

/** Numbers are given as stored, and shown with thousands separators, rounded, as percentages or in brackets. */
function findNumber(text: string, value: number, from: number): number {
  for (const match of text.slice(from).matchAll(/\(?[-–]?[\d,']*\d(?:\.\d+)?%?\)?/g)) {
    const [token] = match
    const digits = token.replaceAll(/[^\d.]/g, '')
    const scale = token.includes('%') ? 100 : 1
    const shown = (Number(digits) / scale) * (/^\(|^[-–]/.test(token) ? -1 : 1)
    const rounding = 0.5 / scale / 10 ** (digits.split('.')[1]?.length ?? 0)
    if (Math.abs(shown - value) <= rounding * 1.0001) return from + match.index + token.length
  }
  return -1
}

/** " | " separates cells, to be found in that order; any row may hold the first. */
function holds(text: string, expected: string): boolean {
  const [first = '', ...rest] = plain(expected).split(' | ')
  const searched = plain(text)
  for (let at = searched.indexOf(first); at >= 0; at = searched.indexOf(first, at + 1)) {
    let from = at + first.length
    const isRow = rest.every((cell) => {
      const found = searched.indexOf(cell, from)
      const end =
        found >= 0 ? found + cell.length : /^-?[\d.]+$/.test(cell) ? findNumber(searched, Number(cell), from) : -1
      from = Math.max(end, from)
      return end >= 0
    })
    if (isRow) return true
  }
  return false
}

/** What OCR cannot read so far: Latin letters inside Korean words, and small subscripts. */
const NOT_READ = new Set([
  '안녕하세요, 저희는 YGE소속 그룹 TREASURE멤버',
  'Potentiodynamic polarization data for stainless steel in the absence and presence of ES in 0.5 M H2SO4 solution.',
])
/** Fifteen pages of small print to be recognised take a minute or more. */
const SLOW = new Set(['schutterwald-gemeindeblatt.pdf'])
const isPatient = process.env['ALCOVE_SLOW_TESTS'] !== undefined
if (isThere && !isPatient) console.log(`skipped: ${[...SLOW].join(', ')} (ALCOVE_SLOW_TESTS=1 reads it)`)

describe.runIf(isThere)('real files', () => {
  for (const { file, expect: expected, expect_ocr: recognised = [], fails } of readManifest(
    'documents/manifest.json',
    documents,
  )) {
    const read = () => readDocument(readFileSync(path.join(folder, 'documents', file)), file)
    if (fails) {
      const codes = fails === 'encrypted' ? ['encrypted'] : ['no_text', 'no_text_in_picture']
      test(`${file} is refused: ${fails}`, async () => expect(codes).toContain((await read()).failure), 60_000)
      continue
    }
    test.skipIf(SLOW.has(file) && !isPatient)(
      `${file} holds what is expected where it is expected`,
      async () => {
        const { pages, failure } = await read()
        expect(failure).toBeUndefined()
        const missing = [...expected, ...recognised].filter(({ page, text }) => {
          const searched =
            page === null ? pages.map((each) => each.text).join('\n') : pages.find((each) => each.page === page)?.text
          return !holds(searched ?? '', text)
        })
        expect(missing.filter(({ text }) => !NOT_READ.has(text))).toEqual([])
        for (const { page } of recognised)
          expect(pages.find((each) => each.page === page)?.confidence).toBeGreaterThan(UNSURE_BELOW)
        for (const { text, items, boxes } of pages) {
          for (const [offset, , inItem, length] of items ?? [])
            expect(inItem === 0 && offset + length <= text.length).toBe(true)
          for (const [offset, length, left, top, width, height] of boxes ?? []) {
            expect(text.slice(offset, offset + length)).toMatch(/^\S+$/)
            expect(left >= 0 && top >= 0 && left + width <= 10_000 && top + height <= 10_000).toBe(true)
          }
        }
      },
      240_000,
    )
  }
})

/** What is really there may be read, says the manifest of these. */
const MAY_BE_READ = new Set(['truncated.pdf', 'external-entity.docx', 'deep-nesting.docx'])

describe.runIf(isThere)('hostile files', () => {
  for (const { file, expect: expected } of readManifest('hostile/manifest.json', hostile)) {
    test(`${file}: ${expected}`, async () => {
      const { pages, failure } = await readDocument(readFileSync(path.join(folder, 'hostile', file)), file)
      if (expected === 'rejected at upload') expect(['rejected', 'damaged']).toContain(failure)
      else if (expected === 'accepted') expect(failure).toBeUndefined()
      else if (!MAY_BE_READ.has(file)) expect(failure).toBeDefined()
      for (const { text } of pages) expect(text).not.toContain('root:')
    }, 60_000)
  }
})
