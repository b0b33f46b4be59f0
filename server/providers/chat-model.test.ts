/** Reads the three streaming formats from a local server, with every chunking. */
import type { ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serveLoopback } from '#test/loopback.ts'
import { event, type Format, FORMATS, formats, WHOLE } from '#test/wire-formats.ts'
import type { ChatModel, ChatPart } from './chat.ts'
import { createProviders } from './provider-registry.ts'
import { ProviderError } from './provider-error.ts'

const TEXT = 'Blätter über Zürich: 日本語, 👩‍👩‍👧‍👦 und ∑.'

async function readParts(
  format: Format,
  answer: (response: ServerResponse) => Promise<void>,
  parts: ChatPart[] = [],
): Promise<ChatPart[]> {
  const chat = await chatWith(format, (_body, response) => answer(response))
  await chat.stream(chatRequest(), (part) => parts.push(part))
  return parts
}

const chatRequest = () => ({
  system: 's',
  turns: [{ role: 'user' as const, content: 'q' }],
  tools: [],
  signal: AbortSignal.timeout(10_000),
})

async function chatWith(
  format: Format,
  answer: (body: string, response: ServerResponse) => unknown,
  idleTimeoutMs = 2_000,
): Promise<ChatModel> {
  const { origin } = await serveLoopback((request, response) => {
    void readText(request).then((body) => answer(body, response))
  })
  const endpoint = { apiKey: 'k', baseUrl: `${origin}/v1` }
  const providers = createProviders({ anthropic: endpoint, openai: endpoint, compatible: endpoint, idleTimeoutMs })
  return providers.chatModel(format, FORMATS[format].identifier)
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

test.for(formats)('%s: an answer that reaches the output limit is marked as cut', async (format) => {
  const { begin, text, end } = FORMATS[format]
  const parts = await readParts(format, async (response) => {
    stream(response)
    response.end(begin + text('as far as it goes') + end(true))
    await Promise.resolve()
  })
  expect(textOf(parts)).toBe('as far as it goes')
  expect(parts.at(-1)).toMatchObject({ type: 'finish', isCut: true })
})

test('a request that fails after its first text is not retried', async () => {
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

test.for(formats)('%s: an idle model times out', async (format) => {
  const { begin, text } = FORMATS[format]
  const failure = await readParts(format, async (response) => {
    stream(response)
    response.write(begin + text('and then'))
    await Promise.resolve()
  }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'provider_timed_out', retryable: true })
})

test.for(formats)('%s: keep-alives extend the idle timeout, up to a limit', async (format) => {
  const { begin, text, end } = FORMATS[format]
  const idleTimeoutMs = 300
  const answerAfter = (signs: number) => async (_body: string, response: ServerResponse) => {
    stream(response)
    response.write(begin)
    for (let sign = 0; sign < signs && !response.destroyed; sign += 1) {
      response.write(format === 'Anthropic' ? event('ping', { type: 'ping' }) : ': still thinking\n\n')
      await delay(idleTimeoutMs / 3)
    }
    response.end(text('There it is.') + end(false))
  }
  const parts: ChatPart[] = []
  const patient = await chatWith(format, answerAfter(6), idleTimeoutMs)
  await patient.stream(chatRequest(), (part) => parts.push(part))
  expect(textOf(parts)).toBe('There it is.')
  const endless = await chatWith(format, answerAfter(60), idleTimeoutMs)
  await expect(endless.stream(chatRequest(), () => undefined)).rejects.toMatchObject({ code: 'provider_timed_out' })
})

test.for(formats)('%s: an endless answer is cut and its connection closed', async (format) => {
  const { begin, text } = FORMATS[format]
  const closed = Promise.withResolvers<boolean>()
  const piece = text('on and '.repeat(1_000))
  const parts = await readParts(format, async (response) => {
    response.on('close', () => closed.resolve(true))
    stream(response)
    response.write(begin)
    while (!response.destroyed) {
      response.write(piece)
      await new Promise(setImmediate)
    }
  })
  expect(parts.at(-1)).toEqual({ type: 'finish', tokensIn: null, tokensOut: null, isCut: true })
  expect(textOf(parts).length).toBeGreaterThanOrEqual(1_000_000)
  expect(textOf(parts).length).toBeLessThan(1_010_000)
  expect(await closed.promise).toBe(true)
})

test.for(formats)('%s: thoughts between tags become reasoning', async (format) => {
  const { begin, text, end } = FORMATS[format]
  const parts = await readParts(format, async (response) => {
    stream(response)
    response.end(begin + ['<th', 'ink>Rent', '?</think', '>\n\nIt is 900.'].map(text).join('') + end(false))
    await Promise.resolve()
  })
  expect(textOf(parts)).toBe('It is 900.')
  expect(parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')).toBe('Rent?')
})

const answerWhole = (response: ServerResponse, body: unknown, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
  response.end(JSON.stringify(body))
}

test.for(formats)('%s: a short answer is retried once, and says whether it is cut', async (format) => {
  const whole = WHOLE[format]
  let asked = 0
  const chat = await chatWith(format, (_body, response) => {
    asked += 1
    if (asked === 1) answerWhole(response, { type: 'error', error: { type: 'x', message: 'no', code: null } }, 429)
    else answerWhole(response, whole('<think>Rent?</think>\nRent', asked === 3))
  })
  expect(await chat.complete(chatRequest())).toMatchObject({ text: 'Rent', isCut: false })
  expect(await chat.complete(chatRequest())).toMatchObject({ text: 'Rent', isCut: true })
  expect(asked).toBe(3)
})

test.for(formats)('%s: a short answer times out', async (format) => {
  const chat = await chatWith(format, () => undefined, 50)
  await expect(chat.complete(chatRequest())).rejects.toMatchObject({ code: 'provider_timed_out', retryable: true })
})

test('OpenAI is asked not to store anything', async () => {
  const bodies: unknown[] = []
  const { begin, text, end } = FORMATS.OpenAI
  const chat = await chatWith('OpenAI', (body, response) => {
    bodies.push(JSON.parse(body))
    if (bodies.length === 1) stream(response).end(begin + text('yes') + end(false))
    else answerWhole(response, WHOLE.OpenAI('yes', false))
  })
  await chat.stream(chatRequest(), () => undefined)
  await chat.complete(chatRequest())
  expect(bodies).toEqual([expect.objectContaining({ store: false }), expect.objectContaining({ store: false })])
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
