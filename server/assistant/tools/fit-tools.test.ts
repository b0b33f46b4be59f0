import { expect, test } from 'vitest'
import { fitTools } from './fit-tools.ts'

const tool = (name: string, words: number) => ({
  name,
  description: 'word '.repeat(words),
  parameters: { type: 'object' },
})
const model = (contextWindow: number) => ({ contextWindow, provider: 'OpenAI' })
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name)

test('all tools are offered where their definitions are no burden', async () => {
  const tools = [tool('a', 10), tool('b', 10)]
  expect(await fitTools(tools, model(128_000))).toEqual({ offered: tools, leftOut: [] })
})

test('definitions take no more than a fifth of the window, and one that is too long costs the next ones nothing', async () => {
  const tools = [tool('own', 50), tool('huge', 5_000), tool('small', 50), tool('last', 900)]
  const { fitting: offered, omitted: leftOut } = await fitTools(tools, model(5_000))
  expect(names(offered)).toEqual(['own', 'small'])
  expect(leftOut).toEqual(['huge', 'last'])
})

test('where even the first has no room none is offered', async () => {
  const { fitting: offered, omitted: leftOut } = await fitTools([tool('own', 100)], model(200))
  expect(offered).toEqual([])
  expect(leftOut).toEqual(['own'])
})
