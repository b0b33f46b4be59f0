import { expect, test } from 'vitest'
import { isEmbeddingModelName, recommendedFirst } from './embedding-models.ts'
import { listEmbeddingModels } from './list-embedding-models.ts'
import { listModels } from './list-models.ts'

const { signal } = new AbortController()

/** An endpoint that answers these paths, and 404 elsewhere. */
function endpointOf(answers: Readonly<Record<string, unknown>>, name = 'Home') {
  const asked: string[] = []
  const send: typeof fetch = (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as { model: string }) : undefined
    const route = body === undefined ? pathname : `${pathname} ${body.model}`
    asked.push(route)
    return Promise.resolve(route in answers ? Response.json(answers[route]) : new Response('none', { status: 404 }))
  }
  return {
    endpoint: { protocol: 'openai', name, baseUrl: 'http://models.test/v1', apiKey: undefined, fetch: send } as const,
    asked,
  }
}

const listOf = (...ids: readonly string[]) => ({ '/v1/models': { data: ids.map((id) => ({ id })) } })

test.each([
  'nomic-embed-text:latest', 'text-embedding-3-small', 'text-embedding-ada-002', 'bge-m3', 'BAAI/bge-small-en-v1.5', 'intfloat/multilingual-e5-large',
  'e5-mistral-7b-instruct', 'thenlper/gte-base', 'gte-Qwen2-7B-instruct', 'mxbai-embed-large', 'all-minilm:33m',
  'sentence-transformers/all-MiniLM-L6-v2', 'Qwen3-Embedding-0.6B', 'embeddinggemma', 'snowflake-arctic-embed2', 'paraphrase-multilingual',
  'jina-embeddings-v3', 'mistral-embed', 'codestral-embed', 'text-embedding-qwen3-embedding-0.6b',
])('%s is a model for embeddings', (id) => expect(isEmbeddingModelName(id)).toBe(true)) // prettier-ignore

test.each([
  'gpt-4o', 'llama3.2', 'gemma-3n-e5b', 'EmbeddedLLM/Mistral-7B', 'bge-reranker-v2-m3', 'gte-multilingual-reranker-base', 'nomic-embed-vision-v1.5',
  'cross-encoder/ms-marco-MiniLM-L6-v2', 'whisper-1', 'qwen3-vl', 'deepseek-r1', 'budget-chat',
])('%s is none', (id) => expect(isEmbeddingModelName(id)).toBe(false)) // prettier-ignore

test('models for many languages come first, the others as the endpoint lists them', () => {
  expect(recommendedFirst(['text-embedding-3-large', 'nomic-embed-text', 'text-embedding-ada-002', 'bge-m3'])).toEqual([
    'bge-m3',
    'nomic-embed-text',
    'text-embedding-3-large',
    'text-embedding-ada-002',
  ])
})

test('a list of names alone is read by the names', async () => {
  const { endpoint } = endpointOf(listOf('gpt-4o', 'text-embedding-3-large', 'text-embedding-3-small', 'whisper-1'))
  expect(await listEmbeddingModels(endpoint, signal)).toEqual(['text-embedding-3-small', 'text-embedding-3-large'])
})

test('OpenAI is asked for its list alone', async () => {
  const { endpoint, asked } = endpointOf(listOf('text-embedding-3-small'), 'OpenAI')
  await listEmbeddingModels(endpoint, signal)
  expect(asked).toEqual(['/v1/models'])
})

test.each([
  ['type', { type: 'embedding' }],
  ['type of LM Studio', { type: 'embeddings' }],
  ['task', { task: 'embed' }],
  ['mode', { mode: 'embedding' }],
  ['capabilities', { capabilities: ['embeddings'] }],
])('a list may state the use by its %s', async (_how, stated) => {
  const { endpoint } = endpointOf({
    '/v1/models': { data: [{ id: 'acorn', ...stated }, { id: 'oak' }, { id: 'e5-chat', type: 'chat' }] },
  })
  expect(await listEmbeddingModels(endpoint, signal)).toEqual(['acorn'])
  expect((await listModels(endpoint, signal)).map(({ id }) => id)).toEqual(['oak', 'e5-chat'])
})

test('Ollama states the capabilities of each model, which count more than its name', async () => {
  const tags = {
    models: ['acorn:latest', 'bge-chat:7b', 'nomic-embed-text:latest'].map((name) => ({ name, model: name })),
  }
  const { endpoint } = endpointOf({
    ...listOf('acorn:latest', 'bge-chat:7b', 'nomic-embed-text:latest'),
    '/api/tags': tags,
    '/api/show acorn:latest': { capabilities: ['embedding'] },
    '/api/show bge-chat:7b': { capabilities: ['completion', 'tools'] },
  })
  expect(await listEmbeddingModels(endpoint, signal)).toEqual(['nomic-embed-text', 'acorn'])
})

test('LM Studio states the type of each model', async () => {
  const { endpoint } = endpointOf({
    ...listOf('acorn', 'bge-chat'),
    '/api/v0/models': {
      data: [
        { id: 'acorn', type: 'embeddings' },
        { id: 'bge-chat', type: 'llm' },
      ],
    },
  })
  expect(await listEmbeddingModels(endpoint, signal)).toEqual(['acorn'])
})

test('an endpoint of embeddings models alone is no failure, and no model of it is offered for chat', async () => {
  const { endpoint } = endpointOf(listOf('BAAI/bge-m3'))
  expect(await listModels(endpoint, signal)).toEqual([])
  await expect(listModels(endpointOf(listOf('whisper-1')).endpoint, signal)).rejects.toMatchObject({ code: 'empty' })
})

test('an endpoint that fails says why', async () => {
  await expect(listEmbeddingModels(endpointOf({}).endpoint, signal)).rejects.toThrow('Home answered 404')
})
