/** Checks ../shared/data/dev if present: expected sentences on their pages, hostile files with a reason. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { UNSURE_BELOW } from '#contract/document.ts'
import { documentsManifest, hostileManifest, missingTexts, readManifest } from '#test/expected-texts.ts'
import { readDocument } from '#test/read-document.ts'

const folder = process.env['ALCOVE_TEST_DATA'] ?? path.resolve(import.meta.dirname, '../../../shared/data/dev')
const isThere = existsSync(path.join(folder, 'documents/manifest.json'))
if (!isThere) console.log(`skipped: no real files in ${folder} (ALCOVE_TEST_DATA names the folder)`)

const listIfThere = <T>(name: string, schema: z.ZodType<T[]>): T[] =>
  isThere ? readManifest(folder, name, schema) : []

/** OCR of fifteen pages of small print takes a minute or more. */
const SLOW = new Set(['schutterwald-gemeindeblatt.pdf'])
const isPatient = process.env['ALCOVE_SLOW_TESTS'] !== undefined
if (isThere && !isPatient) console.log(`skipped: ${[...SLOW].join(', ')} (ALCOVE_SLOW_TESTS=1 reads it)`)

describe.runIf(isThere)('real files', () => {
  for (const { file, expect: expected, expect_ocr: recognised = [], fails } of listIfThere(
    'documents/manifest.json',
    documentsManifest,
  )) {
    const readFile = () => readDocument(readFileSync(path.join(folder, 'documents', file)), file)
    if (fails) {
      const codes = fails === 'encrypted' ? ['encrypted'] : ['no_text', 'no_text_in_picture']
      test(`${file} is refused: ${fails}`, async () => expect(codes).toContain((await readFile()).failure))
      continue
    }
    test.skipIf(SLOW.has(file) && !isPatient)(`${file} holds what is expected where it is expected`, async () => {
      const { pages, failure } = await readFile()
      expect(failure).toBeUndefined()
      const missing = missingTexts(pages, [...expected, ...recognised])
      expect(missing).toEqual([])
      for (const { page } of recognised)
        expect(pages.find((each) => each.page === page)?.confidence).toBeGreaterThan(UNSURE_BELOW)
      for (const { text, items, boxes, blocks = [], gap } of pages) {
        expect(gap !== undefined).toBe(text.trim() === '')
        let end = 0
        for (const block of blocks) {
          expect(block.start).toBeGreaterThanOrEqual(end)
          expect(text.slice(block.start, block.end).trim()).not.toBe('')
          end = block.end
        }
        expect(text.slice(end).trim()).toBe('')
        const read = new Map<number, number>()
        for (const [offset, item, inItem, length] of items ?? []) {
          expect(inItem >= (read.get(item) ?? 0) && offset + length <= text.length).toBe(true)
          read.set(item, inItem + length)
        }
        for (const [offset, length, left, top, width, height] of boxes ?? []) {
          expect(text.slice(offset, offset + length)).toMatch(/^\S+$/)
          expect(left >= 0 && top >= 0 && left + width <= 10_000 && top + height <= 10_000).toBe(true)
        }
      }
    })
  }
})

/** The manifest allows these to be read in part. */
const MAY_BE_READ = new Set(['truncated.pdf', 'external-entity.docx', 'deep-nesting.docx'])

describe.runIf(isThere)('hostile files', () => {
  for (const { file, expect: expected } of listIfThere('hostile/manifest.json', hostileManifest)) {
    test(`${file}: ${expected}`, async () => {
      const { pages, failure } = await readDocument(readFileSync(path.join(folder, 'hostile', file)), file)
      if (expected === 'rejected at upload') expect(['rejected', 'damaged']).toContain(failure)
      else if (expected === 'accepted') expect(failure).toBeUndefined()
      else if (!MAY_BE_READ.has(file)) expect(failure).toBeDefined()
      for (const { text } of pages) expect(text).not.toContain('root:')
    })
  }
})
