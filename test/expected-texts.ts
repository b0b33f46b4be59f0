/** Reads the manifests of a folder of real files and checks texts against them. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'

const expectation = z.object({ page: z.int().nullable(), text: z.string() })
export const documentsManifest = z.array(
  z.object({
    file: z.string(),
    type: z.string(),
    expect: z.array(expectation),
    fails: z.enum(['encrypted', 'no text']).nullish(),
    expect_ocr: z.array(expectation).optional(),
  }),
)
export const hostileManifest = z.array(
  z.object({ file: z.string(), expect: z.enum(['accepted', 'rejected at upload', 'fails with a reason']) }),
)

export const readManifest = <T>(folder: string, name: string, schema: z.ZodType<T>): T =>
  schema.parse(JSON.parse(readFileSync(path.join(folder, name), 'utf8')))

const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replaceAll(/[\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/\s+/g, ' ')

/** Numbers are given as stored; texts show them with separators, rounded, as percentages or in brackets. */
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

/** Compares without differences of form (NFKC) and white space. " | " separates cells in order; any row may hold the first. */
export function containsText(text: string, expected: string): boolean {
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

type Expectation = z.infer<typeof expectation>

/** Returns the expected texts that are missing from their pages (null: from all pages). */
export const missingTexts = (
  pages: readonly { readonly page: number; readonly text: string }[],
  expected: readonly Expectation[],
): Expectation[] =>
  expected.filter(({ page, text }) => {
    const searched =
      page === null ? pages.map((each) => each.text).join('\n') : pages.find((each) => each.page === page)?.text
    return !containsText(searched ?? '', text)
  })
