import { expect, test, vi } from 'vitest'
import { createLongFiles } from './long-files.ts'

test('one long file steps aside at a time, the next when it has ended', async () => {
  vi.useFakeTimers()
  try {
    const readings = createLongFiles(1_000)
    const aside: string[] = []
    const begin = (name: string) => {
      const read = Promise.withResolvers<string>()
      const result = readings.run(
        () => aside.push(name),
        () => read.promise,
      )
      return { end: () => read.resolve(name), result }
    }
    const [short, first, second, third] = [begin('short'), begin('first'), begin('second'), begin('third')]
    short.end()
    expect(await short.result).toBe('short')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(aside).toEqual(['first'])
    second.end()
    await second.result
    first.end()
    expect(await first.result).toBe('first')
    expect(aside).toEqual(['first', 'third'])
    third.end()
    await third.result
  } finally {
    vi.useRealTimers()
  }
})

test('a file that steps aside by itself does not prevent others from it', async () => {
  vi.useFakeTimers()
  try {
    const readings = createLongFiles(1_000)
    const [scan, text] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    const [scanAside, textAside] = [vi.fn(), vi.fn()]
    const scanned = readings.run(scanAside, async (yieldSlot) => {
      yieldSlot()
      await scan.promise
    })
    const read = readings.run(textAside, () => text.promise)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(scanAside).toHaveBeenCalledOnce()
    expect(textAside).toHaveBeenCalledOnce()
    scan.resolve(undefined)
    text.resolve(undefined)
    await Promise.all([scanned, read])
  } finally {
    vi.useRealTimers()
  }
})

test('a file that fails frees its place for the next', async () => {
  vi.useFakeTimers()
  try {
    const readings = createLongFiles(1_000)
    const failing = Promise.withResolvers<never>()
    const failed = readings.run(vi.fn(), () => failing.promise)
    await vi.advanceTimersByTimeAsync(1_000)
    failing.reject(new Error('damaged'))
    await expect(failed).rejects.toThrow('damaged')
    const [next, yieldSlot] = [Promise.withResolvers<undefined>(), vi.fn()]
    const reading = readings.run(yieldSlot, () => next.promise)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(yieldSlot).toHaveBeenCalledOnce()
    next.resolve(undefined)
    await reading
  } finally {
    vi.useRealTimers()
  }
})
