import { describe, expect, test } from 'vitest'
import { unpackBlock } from './block.ts'
import { eachRun } from './byte-runs.ts'
import type { PackedSegment } from './pack-segment.ts'
import { readBlock } from './segment-format.ts'
import { inIndexThread, type RunIndexTask } from './worker-thread.ts'

const page = (text: string) => ({ page: 1, text, headings: null })

/** Each word is its own term. */
async function indexText(run: RunIndexTask, text: string) {
  await run('addPages', [page(text)])
  for (const [language, words] of await run('listWords', 'name.txt')) await run('addTerms', language, words)
  return await run('packBatch')
}

const termsOf = ({ contents }: PackedSegment): string[] =>
  [...eachRun(contents)].flatMap((block) => [...readBlock(unpackBlock(block).bytes)].map(([term]) => term)).sort()

describe('the thread that computes indexes', () => {
  test('gives the passages of a document and the terms that they hold', async () => {
    const { documents, segment } = await inIndexThread((run) => indexText(run, 'A harbour lamp.'))
    expect(documents.map(({ passages }) => passages)).toEqual([
      [{ page: 1, start: 0, end: 15, heading: undefined, length: 3 }],
    ])
    expect(segment.passages).toBe(1)
    expect(termsOf(segment)).toEqual(['a', 'harbour', 'lamp', 'name'])
  })

  test('keeps concurrently computed documents apart', async () => {
    const texts = ['harbour lamp', 'winter stone', 'copper ledger']
    const packed = await Promise.all(texts.map((text) => inIndexThread((run) => indexText(run, text))))
    expect(packed.map(({ segment }) => termsOf(segment))).toEqual([
      ['harbour', 'lamp', 'name'],
      ['name', 'stone', 'winter'],
      ['copper', 'ledger', 'name'],
    ])
  })

  test('drops a document after its last step', async () => {
    let later: RunIndexTask | undefined
    await inIndexThread(async (run) => {
      later = run
      await run('addPages', [page('harbour')])
    })
    expect(await later?.('addPages', [])).toBe(0)
  })

  test('says why a step failed, and takes the next', async () => {
    const broken = { page: 1, text: null, headings: null } as unknown as ReturnType<typeof page>
    await expect(inIndexThread((run) => run('addPages', [broken]))).rejects.toThrow(TypeError)
    expect(await inIndexThread((run) => run('addPages', [page('harbour')]))).toBe(1)
  })

  test('merges segments under new numbers, without deleted passages', async () => {
    const texts = ['harbour lamp', 'winter lamp', 'gone']
    const [one, other, gone] = await Promise.all(texts.map((text) => inIndexThread((run) => indexText(run, text))))
    const joined = await inIndexThread(async (run) => {
      for (const [packed, number] of [
        [one, 0],
        [gone, -1],
        [other, 1],
      ] as const)
        if (packed) await run('addSegment', packed.segment.contents, Int32Array.of(number))
      return await run('packMerged', [2, 2])
    })
    expect(joined.passages).toBe(2)
    expect(termsOf(joined)).toEqual(['harbour', 'lamp', 'name', 'winter'])
  })
})
