import { expect, test } from 'vitest'
import { parseCommands, splitAddress } from './commands.ts'

test.for([
  ['What is due?', [], 'What is due?'],
  ['@knowledge lease.pdf what is due?', [['knowledge', 'lease.pdf what is due?']], 'lease.pdf what is due?'],
  ['Compare @web https://a.test/x the rent\nand @knowledge lease', [['web', 'https://a.test/x the rent\nand'], ['knowledge', 'lease']], 'Compare the rent and lease'],
  ['@search', [['search', '']], ''],
  ['mail me@web.de, @webmaster and (@search)', [], 'mail me@web.de, @webmaster and (@search)'],
] as const)('finds the commands in %j', ([message, calls, text]) => {
  const parsed = parseCommands(message)
  expect(parsed.calls.map(({ name, argument }) => [name, argument])).toEqual(calls)
  expect(parsed.text).toBe(text)
}) // prettier-ignore

test('returns the text before the commands, and parses at most five', () => {
  const { before, calls, text } = parseCommands(`Look ${'@search a '.repeat(7)}`)
  expect(before).toBe('Look')
  expect(calls).toHaveLength(5)
  expect(text).toBe('Look a a a a a a a')
})

test.for([
  ['https://a.test/x what is due?', 'https://a.test/x', 'what is due?'],
  ['a.test/x', 'https://a.test/x', ''],
  ['what does <https://a.test/x>, say', 'https://a.test/x', 'what does say'],
  ['https://a.test/x_(y).', 'https://a.test/x_(y)', ''],
  ['file:///etc/passwd', 'file:///etc/passwd', ''],
] as const)('finds the address in %j', ([argument, address, question]) => {
  expect(splitAddress(argument)).toEqual({ address, question })
})

test.for(['', 'what is due', '...'])('finds no address in %j', (argument) => {
  expect(splitAddress(argument)).toBeUndefined()
})
