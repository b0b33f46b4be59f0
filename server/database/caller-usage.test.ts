import { expect, test } from 'vitest'
import { createCallerUsage } from './caller-usage.ts'

function usageAt(start: number) {
  let now = start
  return { usage: createCallerUsage(() => now), pass: (ms: number) => (now += ms) }
}

test('a caller is overdrawn after two seconds more than what flows back, and recovers by using nothing', () => {
  const { usage, pass } = usageAt(0)
  usage.begin('one')
  pass(3_900)
  expect(usage.isOverdrawn('one')).toBe(false)
  pass(200)
  expect(usage.isOverdrawn('one')).toBe(true)
  usage.end('one')
  pass(200)
  expect(usage.isOverdrawn('one')).toBe(false)
})

test('statements that run side by side use their time side by side, also before they end', () => {
  const { usage, pass } = usageAt(0)
  for (let count = 0; count < 4; count += 1) usage.begin('one')
  pass(600)
  expect(usage.isOverdrawn('one')).toBe(true)
})

test('half of the time of one connection may be used for ever', () => {
  const { usage, pass } = usageAt(0)
  for (let round = 0; round < 1_000; round += 1) {
    usage.begin('one')
    pass(100)
    usage.end('one')
    pass(100)
  }
  expect(usage.isOverdrawn('one')).toBe(false)
})

test('what a caller overdraws is bounded', () => {
  const { usage, pass } = usageAt(0)
  usage.begin('one')
  pass(3_600_000)
  usage.end('one')
  pass(21_000)
  expect(usage.isOverdrawn('one')).toBe(false)
})

test('one caller does not use the time of another', () => {
  const { usage, pass } = usageAt(0)
  usage.begin('one')
  pass(10_000)
  expect([usage.isOverdrawn('one'), usage.isOverdrawn('two')]).toEqual([true, false])
})

test('a caller has others while another began a statement in the last five seconds', () => {
  const { usage, pass } = usageAt(0)
  usage.begin('one')
  usage.begin('one')
  expect([usage.hasOthers('one'), usage.hasOthers('two')]).toEqual([false, true])
  usage.begin('two')
  usage.begin('one')
  expect([usage.hasOthers('one'), usage.hasOthers('two')]).toEqual([true, true])
  pass(5_001)
  usage.begin('one')
  expect([usage.hasOthers('one'), usage.hasOthers('two')]).toEqual([false, true])
})

test('the accounts of many addresses are forgotten, overdrawn ones are not', () => {
  const { usage, pass } = usageAt(0)
  usage.begin('greedy')
  pass(20_000)
  for (let address = 0; address < 25_000; address += 1) {
    usage.begin(`address:${address}`)
    usage.end(`address:${address}`)
  }
  expect(usage.isOverdrawn('greedy')).toBe(true)
})
