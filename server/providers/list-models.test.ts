import { expect, test } from 'vitest'
import { listModels } from './list-models.ts'

async function listed(...data: readonly unknown[]) {
  const endpoint = { protocol: 'openai', name: 'Home', baseUrl: 'http://models.test/v1', apiKey: undefined } as const
  const fetchList = () => Promise.resolve(Response.json({ data }))
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
