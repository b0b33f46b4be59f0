/** What a model's bytes become, however they are cut on their way: the three formats, from a server of the test's own. */
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type ChatPart } from './chat.ts'
import { createProviders } from './choose.ts'
import { ProviderError } from './provider-error.ts'

const TEXT = 'Blätter über Zürich: 日本語, 👩‍👩‍👧‍👦 und ∑.'

const event = (name: string | undefined, data: unknown) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

const FORMATS = {
  Anthropic: {
    identifier: 'claude-sonnet-4-5',
    begin:
      event('message_start', {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      }) +
      event('content_block_start', {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }),
    text: (text: string) =>
      event('content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    end: (isCut: boolean) =>
      event('content_block_stop', { type: 'content_block_stop', index: 0 }) +
      event('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: isCut ? 'max_tokens' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 7 },
      }) +
      event('message_stop', { type: 'message_stop' }),
  },
  OpenAI: {
    identifier: 'gpt-5',
    begin:
      event('response.created', {
        type: 'response.created',
        sequence_number: 0,
        response: { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] },
      }) +
      event('response.output_item.added', {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { type: 'message', id: 'i', status: 'in_progress', role: 'assistant', content: [] },
      }),
    text: (delta: string) =>
      event('response.output_text.delta', {
        type: 'response.output_text.delta',
        sequence_number: 2,
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta,
      }),
    end: (isCut: boolean) =>
      event('response.output_item.done', {
        type: 'response.output_item.done',
        sequence_number: 3,
        output_index: 0,
        item: { type: 'message', id: 'i', status: 'completed', role: 'assistant', content: [] },
      }) +
      event(isCut ? 'response.incomplete' : 'response.completed', {
        type: isCut ? 'response.incomplete' : 'response.completed',
        sequence_number: 4,
        response: {
          id: 'r',
          object: 'response',
          created_at: 1,
          model: 'm',
          status: isCut ? 'incomplete' : 'completed',
          incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
          output: [],
          usage: {
            input_tokens: 3,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: 7,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 10,
          },
        },
      }),
  },
  'OpenAI-compatible': {
    identifier: 'openai-compatible/m',
    begin: '',
    text: (content: string) =>
      event(undefined, {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      }),
    end: (isCut: boolean) =>
      event(undefined, {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: isCut ? 'length' : 'stop' }],
      }) +
      event(undefined, {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 },
      }) +
      'data: [DONE]\n\n',
  },
} as const
type Format = keyof typeof FORMATS
const formats = Object.keys(FORMATS) as Format[]

/** What a server that answers like this is understood to say. */
async function readParts(
  format: Format,
  answer: (response: ServerResponse) => Promise<void>,
  parts: ChatPart[] = [],
): Promise<ChatPart[]> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => void answer(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const endpoint = { apiKey: 'k', baseUrl }
  const providers = createProviders({ anthropic: endpoint, openai: endpoint, compatible: endpoint, silenceMs: 2_000 })
  const chat = providers.chatModel(format, FORMATS[format].identifier)
  const request = { system: 's', turns: [{ role: 'user' as const, content: 'q' }], tools: [] }
  await chat.stream({ ...request, signal: AbortSignal.timeout(10_000) }, (part) => parts.push(part))
  return parts
}

const textOf = (parts: readonly ChatPart[]) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

test.for(formats)(
  '%s: bytes that arrive one at a time, in the middle of a character too, are the same text',
  async (format) => {
    const { begin, text, end } = FORMATS[format]
    const parts = await readParts(format, async (response) => {
      stream(response)
      for (const byte of Buffer.from(begin + text(TEXT) + end(false))) {
        response.write(Buffer.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    })
    expect(textOf(parts)).toBe(TEXT)
    expect(parts.at(-1)).toMatchObject({ type: 'finish', tokensIn: 3, tokensOut: 7, isCut: false })
  },
)

test.for(formats)(
  '%s: a connection that breaks in the middle of a character is told as one that was cut off',
  async (format) => {
    const { begin, text } = FORMATS[format]
    const broken = Buffer.from(text('日'))
    const inside = broken.indexOf(Buffer.from('日')) + 1
    const failure = await readParts(format, async (response) => {
      stream(response)
      response.write(begin + text('before '))
      await delay(50)
      response.write(broken.subarray(0, inside))
      await delay(50)
      response.destroy()
    }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ProviderError)
    expect(failure).toMatchObject({ code: 'provider_cut_off', retryable: true })
  },
)

test.for(formats)('%s: an answer that ends at its limit of length says so', async (format) => {
  const { begin, text, end } = FORMATS[format]
  const parts = await readParts(format, async (response) => {
    stream(response)
    response.end(begin + text('as far as it goes') + end(true))
    await Promise.resolve()
  })
  expect(textOf(parts)).toBe('as far as it goes')
  expect(parts.at(-1)).toMatchObject({ type: 'finish', isCut: true })
})

test('what fails after its first words is not asked for again', async () => {
  const { begin, text } = FORMATS.OpenAI
  const created = begin.slice(0, begin.indexOf('event:', 1))
  let answers = 0
  const parts: ChatPart[] = []
  const failure = await readParts(
    'OpenAI',
    async (response) => {
      answers += 1
      stream(response)
      const error = { type: 'error', sequence_number: 3, code: 'server_error', message: 'no', param: null }
      response.end(created + text('once') + event('error', error))
      await Promise.resolve()
    },
    parts,
  ).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'provider_failed' })
  expect([answers, textOf(parts)]).toEqual([1, 'once'])
})

test.for(formats)('%s: a model that falls silent is given up', async (format) => {
  const { begin, text } = FORMATS[format]
  const failure = await readParts(format, async (response) => {
    stream(response)
    response.write(begin + text('and then'))
    await Promise.resolve()
  }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'provider_timed_out', retryable: true })
})

test.for(
  formats.flatMap((format) => [
    [format, 429, 'provider_rate_limited'],
    [format, 500, 'provider_failed'],
    [format, 401, 'provider_refused_key'],
  ] as const), // prettier-ignore
)('%s: status %i is told as %s', async ([format, status, code]) => {
  const failure = await readParts(format, async (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
    response.end(JSON.stringify({ type: 'error', error: { type: 'x', message: 'no', code: null } }))
    await Promise.resolve()
  }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code })
})
