import { expect, test } from 'vitest'
import { listModels } from './list-models.ts'

const listed = (...data: readonly unknown[]) => listedIn({ data })

async function listedIn(answer: unknown) {
  const endpoint = { protocol: 'openai', name: 'Home', baseUrl: 'http://models.test/v1', apiKey: undefined } as const
  const fetchList = () => Promise.resolve(Response.json(answer))
  return listModels({ ...endpoint, fetch: fetchList }, new AbortController().signal)
}

test.each([
  ['what goes in', { id: 'a', architecture: { input_modalities: ['text', 'image'] } }, true],
  ['that only text goes in', { id: 'gpt-4o', architecture: { input_modalities: ['text'] } }, false],
  ['its capabilities in words', { id: 'a', capabilities: ['completion', 'multimodal'] }, true],
  ['its capabilities as switches', { id: 'a', capabilities: { vision: true } }, true],
  ['that it cannot', { id: 'llava', capabilities: { vision: false } }, false],
  ['nothing, and has a known name', { id: 'llava' }, true],
  ['nothing, and has another name', { id: 'a' }, false],
  ['something that nobody knows', { id: 'a', capabilities: 7, architecture: 'x' }, false],
])('an endpoint may say %s', async (_says, model, sees) => {
  expect(await listed(model)).toEqual([{ id: model.id, contextWindow: 32_000, sees }])
})

test.each([['context_length'], ['max_model_len'], ['max_context_length'], ['context_window']])(
  'an endpoint may name the window %s',
  async (name) => {
    expect(await listed({ id: 'a', [name]: 8_192 })).toMatchObject([{ contextWindow: 8_192 }])
    expect(await listed({ id: 'a', [name]: 'much' })).toMatchObject([{ contextWindow: 32_000 }])
  },
)

test.each([
  ['null', null],
  ['nothing that is named', {}],
  ['a number as its name', { id: 7 }],
  ['an empty name', { id: '' }],
  ['a list', []],
])('an entry that is %s costs that entry only', async (_says, entry) => {
  expect(await listed({ id: 'a' }, entry, { id: 'b' })).toMatchObject([{ id: 'a' }, { id: 'b' }])
})

test.each([
  ['a bare list', [{ id: 'a' }]],
  ['names', { data: ['a'] }],
  ['a list of Ollama', { models: [{ name: 'a', model: 'a' }] }],
  ['a list beside one that is null', { data: null, models: [{ name: 'a' }] }],
])('an endpoint may answer with %s', async (_says, answer) => {
  expect(await listedIn(answer)).toMatchObject([{ id: 'a' }])
})

test('a list that is null is empty, and an error is told in its own words', async () => {
  await expect(listedIn({ object: 'list', data: null })).rejects.toThrow('Home lists no model that can chat.')
  await expect(listedIn({ error: { message: 'The key is asleep.' } })).rejects.toThrow('The key is asleep.')
  await expect(listedIn({ data: 7 })).rejects.toThrow('something that is no list of models')
})
