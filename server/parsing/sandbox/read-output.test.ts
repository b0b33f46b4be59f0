import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readLines, readTail } from './read-output.ts'

const streamOf = (...chunks: readonly string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
async function listOf(lines: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = []
  for await (const line of lines) list.push(line)
  return list
}
const TOO_LARGE = { code: 'too_large' }

test('yields complete lines, however they are cut into chunks', async () => {
  expect(await listOf(readLines(streamOf('{"a"', ':1}\n\n{"ü', '":2}\n{"b":3}\n{"unfinished"')))).toEqual([
    '{"a":1}',
    '',
    '{"ü":2}',
    '{"b":3}',
  ])
  const bytes = Buffer.from('ü\n')
  expect(await listOf(readLines(Readable.from([bytes.subarray(0, 1), bytes.subarray(1)])))).toEqual(['ü'])
})

test('stops at the byte that is too much, of a line or of all', async () => {
  const bounds = { lineBytes: 4, totalBytes: 12 }
  expect(await listOf(readLines(streamOf('abcd\nabcd\n'), bounds))).toEqual(['abcd', 'abcd'])
  for (const chunks of [['abcde\n'], ['abcd', 'e'], ['abc\nab', 'cde']])
    await expect(listOf(readLines(streamOf(...chunks), bounds))).rejects.toMatchObject(TOO_LARGE)
  await expect(listOf(readLines(streamOf('a\nb\nc\n', 'd\ne\nf\ng'), bounds))).rejects.toMatchObject(TOO_LARGE)
})

test('keeps the end of a stream', async () => {
  expect(await readTail(streamOf('x'.repeat(10_000), 'the ', 'end'), 7)).toBe('the end')
})
