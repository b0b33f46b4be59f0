import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runAsCaller } from './caller.ts'
import { openTransfer } from './transfer-turns.ts'

test('the only transfer of a caller passes at once', () => {
  const transfer = openTransfer('one')
  const passed: number[] = []
  for (const chunk of [1, 2, 3]) transfer.pass(() => passed.push(chunk))
  transfer.end()
  expect(passed).toEqual([1, 2, 3])
})

test('of several transfers of a caller, one chunk passes in each turn of the event loop, beside one of every other', async () => {
  const ofOne = Array.from({ length: 3 }, () => openTransfer('one'))
  const ofTwo = Array.from({ length: 2 }, () => openTransfer('two'))
  const passed: string[] = []
  ofOne.forEach((transfer, index) => transfer.pass(() => passed.push(`one ${index}`)))
  ofTwo.forEach((transfer, index) => transfer.pass(() => passed.push(`two ${index}`)))
  expect(passed).toEqual([])
  const turns: string[][] = []
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn()
    turns.push(passed.splice(0))
  }
  expect(turns).toEqual([['one 0', 'two 0'], ['one 1', 'two 1'], ['one 2']])
  for (const transfer of [...ofOne, ...ofTwo]) transfer.end()
})

test('chunks that wait pass although the other transfers have ended', async () => {
  const [first, second] = [openTransfer('one'), openTransfer('one')]
  const passed: number[] = []
  second.pass(() => passed.push(1))
  first.end()
  second.pass(() => passed.push(2))
  await nextTurn()
  await nextTurn()
  expect(passed).toEqual([1, 2])
  second.end()
})

test('a transfer belongs to the caller whose request opens it', async () => {
  const passed: string[] = []
  const open = (address: string) => runAsCaller(address, () => openTransfer())
  const [one, other] = [open('192.0.2.1'), open('192.0.2.2')]
  one.pass(() => passed.push('one'))
  other.pass(() => passed.push('other'))
  expect(passed).toEqual(['one', 'other'])
  const more = open('192.0.2.1')
  one.pass(() => passed.push('one, of two'))
  expect(passed).toHaveLength(2)
  await nextTurn()
  expect(passed).toHaveLength(3)
  for (const transfer of [one, other, more]) transfer.end()
})
