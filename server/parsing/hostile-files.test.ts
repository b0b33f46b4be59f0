/** Each hostile file fails alone, with a reason, within its limits, and reveals nothing about the machine. */
import { expect, test } from 'vitest'
import { HOSTILE_FILES } from '#test/make-hostile.ts'
import { readDocument } from '#test/read-document.ts'

test.each(HOSTILE_FILES.map(({ file, expect: ending, make }) => ({ file, ending, make })))(
  '$file: $ending',
  async ({ file, ending, make }) => {
    const { pages, failure } = await readDocument(make(), file)
    const ended =
      failure === undefined ? 'accepted' : failure === 'rejected' ? 'rejected at upload' : 'fails with a reason'
    expect([ended, failure]).toEqual([ending, failure])
    for (const { text } of pages) expect(text).not.toContain('root:')
  },
)
