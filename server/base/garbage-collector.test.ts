import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { withFrugalHeaps } from './garbage-collector.ts'

/** Keeps 20 MB alive, replaces them piece by piece, and posts the largest size of its heap. */
const REPLACING = `
  const { getHeapStatistics } = require('node:v8')
  const { parentPort } = require('node:worker_threads')
  const kept = Array.from({ length: 2_000 }, () => new Array(1_000).fill(0))
  let most = 0
  for (let turn = 0; turn < 200_000; turn += 1) {
    kept[turn % kept.length] = new Array(1_000).fill(turn)
    if (turn % 1_000 === 0) most = Math.max(most, getHeapStatistics().total_heap_size)
  }
  parentPort.postMessage(most)
`

const largestHeap = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(REPLACING, { eval: true, execArgv: [] })
    worker.once('message', resolve)
    worker.once('error', reject)
  })

test('heaps stay smaller while work is frugal, until the last of it has ended', async () => {
  const usual = await largestHeap()
  const first = withFrugalHeaps(() => Promise.resolve())
  const frugal = await withFrugalHeaps(async () => {
    await first
    return largestHeap()
  })
  expect(frugal).toBeLessThan(usual * 0.9)
  expect(await largestHeap()).toBeGreaterThan((usual + frugal) / 2)
})
