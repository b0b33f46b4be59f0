import { describe, expect, test } from 'vitest'
import { readFaultFile } from '#test/fault-file.ts'
import { readDocument } from '#test/read-document.ts'

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')

describe('a scanned listing without ruling lines', () => {
  test.each(['scan-listing-upright.png', 'scan-listing-sideways.png'])(
    'is read row by row: %s',
    async (name) => {
      const { pages } = await readDocument(readFaultFile(name), name)
      const expected = linesOf(readFaultFile('scan-listing.txt').toString())
      const found = new Set(linesOf(pages[0]?.text ?? ''))
      const right = expected.filter((line) => found.has(line))
      expect(right.length).toBeGreaterThanOrEqual(0.95 * expected.length)
    },
    120_000,
  )
})
