import { expect, test } from 'vitest'
import { fitTools } from './fit-tools.ts'

const tool = (name: string, words: number) => ({
  name,
  description: 'word '.repeat(words),
  parameters: { type: 'object' },
})
const model = (contextWindow: number) => ({ contextWindow, provider: 'OpenAI' })
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)

test('all tools are offered if their definitions are short', async () => {
  const tools = [tool('a', 10), tool('b', 10)]
  expect(await fitTools(tools, model(128_000))).toEqual({ fitting: tools, omitted: [] })
})

test('definitions take at most a fifth of the window, and an overlong one does not exclude the next ones', async () => {
  const tools = [tool('own', 50), tool('huge', 5_000), tool('small', 50), tool('last', 900)]
  const { fitting, omitted } = await fitTools(tools, model(5_000))
  expect(names(fitting)).toEqual(['own', 'small'])
  expect(omitted).toEqual(['huge', 'last'])
})

test('no tool is offered if even the first does not fit', async () => {
  const { fitting, omitted } = await fitTools([tool('own', 100)], model(200))
  expect(fitting).toEqual([])
  expect(omitted).toEqual(['own'])
})
