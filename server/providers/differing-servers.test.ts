/** Model servers, and proxies in front of them, that differ a little from the three formats. */
import type { ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { serveLoopback } from '#test/loopback.ts'
import { event, type Format, FORMATS, formats, WHOLE } from '#test/wire-formats.ts'
import type { ChatPart, ChatTool } from './chat.ts'
import { createProviders } from './provider-registry.ts'

interface Answer {
  readonly body: string
  readonly status?: number
  readonly type?: string
}

interface Outcome {
  readonly text: string
  readonly reasoning: string
  readonly parts: readonly ChatPart[]
  readonly failure: unknown
}

const TOOL: ChatTool = { name: 'look', description: 'd', parameters: {}, run: () => Promise.resolve('seen') }

/** Merges the parts as the reply does. */
async function ask(format: Format, answers: readonly Answer[], tools: readonly ChatTool[] = []): Promise<Outcome> {
  let asked = 0
  const { origin } = await serveLoopback((request, response: ServerResponse) => {
    void readText(request).then(() => {
      const {
        body,
        status = 200,
        type = 'text/event-stream',
      } = answers[Math.min(asked, answers.length - 1)] ?? { body: '' }
      asked += 1
      response.writeHead(status, { 'content-type': type, 'retry-after-ms': '1' }).end(body)
    })
  })
  const endpoint = { apiKey: 'k', baseUrl: `${origin}/v1` }
  const idleTimeoutMs = 2_000
  const providers = createProviders({ anthropic: endpoint, openai: endpoint, compatible: endpoint, idleTimeoutMs })
  const chat = providers.chatModel(format, FORMATS[format].identifier)
  const parts: ChatPart[] = []
  const turns = [{ role: 'user' as const, content: 'q' }]
  const signal = AbortSignal.timeout(10_000)
  const failure = await chat
    .stream({ system: 's', turns, tools, signal }, (part) => parts.push(part))
    .catch((error: unknown) => error)
  let [text, reasoning] = ['', '']
  for (const part of parts) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'reasoning') reasoning += part.text
    else if (part.type === 'thought') [reasoning, text] = [reasoning + text, '']
  }
  return { text, reasoning, parts, failure }
}

const whole = (format: Format, ...pieces: readonly string[]) =>
  FORMATS[format].begin + pieces.map(FORMATS[format].text).join('') + FORMATS[format].end(false)

const errorOf = (format: Format, error: Readonly<Record<string, unknown>>) =>
  format === 'OpenAI'
    ? event('error', { type: 'error', sequence_number: 0, param: null, ...error })
    : format === 'Anthropic'
      ? event('error', { type: 'error', error })
      : event(undefined, { error })

const containing = (words: string): unknown => expect.stringContaining(words)
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)

const TOO_LONG = 'The input (9000 tokens) is longer than the context length (8192 tokens).'

describe.for(formats)('%s', (format) => {
  test.for([
    [{ message: TOO_LONG, type: 'BadRequestError', code: '400' }, 'provider_rejected', false],
    [{ message: TOO_LONG, code: 'context_length_exceeded' }, 'provider_rejected', false],
    [{ message: 'Slow down.', type: 'rate_limit_error', code: 'rate_limit_exceeded' }, 'provider_rate_limited', true],
    [{ message: 'You exceeded your quota.', code: 'insufficient_quota' }, 'provider_rejected', false],
    [{ message: 'We are full.', type: 'overloaded_error', code: 'overloaded' }, 'provider_failed', true],
    [{ message: 'Invalid key.', type: 'authentication_error', code: 'invalid_api_key' }, 'provider_refused_key', false],
    [{ message: 'Something odd.', code: null }, 'provider_failed', false],
  ] as const)('an error as the first event is told in its own words: %j', async ([error, code, retryable]) => {
    const { failure, text } = await ask(format, [{ body: errorOf(format, error) + 'data: [DONE]\n\n' }])
    expect(failure).toMatchObject({ code, retryable, message: containing(error.message) })
    expect(text).toBe('')
  })

  test('an error in the middle is told, and the text before it stays', async () => {
    const error = errorOf(format, { message: 'CUDA out of memory', type: 'server_error', code: 'server_error' })
    const { begin, text } = FORMATS[format]
    const outcome = await ask(format, [{ body: begin + text('Half an') + error }])
    expect(outcome.text).toBe('Half an')
    expect(outcome.failure).toMatchObject({
      code: 'provider_failed',
      retryable: true,
      message: containing('CUDA out of memory'),
    })
  })

  test('an event named error with a plain text is told', async () => {
    const { failure } = await ask(format, [{ body: 'event: error\ndata: no worker is free\n\n' }])
    expect(failure).toMatchObject({ message: containing('no worker is free') })
  })

  test('pings, comments, empty data and other line endings do not matter', async () => {
    const pings = ': ping\n\ndata:\n\ndata: ping\n\nevent: ping\ndata: {"type": "ping"}\n\n'
    const { begin, text, end } = FORMATS[format]
    const body = (pings + begin + pings + text('It is ') + pings + text('900.') + pings + end(false)).replaceAll(
      '\n',
      '\r\n',
    )
    expect(await ask(format, [{ body }])).toMatchObject({ text: 'It is 900.', failure: undefined })
  })

  test('data without a space after the colon, and a last event without its empty line', async () => {
    const body = whole(format, 'It is ', '900.').replaceAll('data: ', 'data:').trimEnd()
    expect(await ask(format, [{ body }])).toMatchObject({ text: 'It is 900.', failure: undefined })
  })

  test('[DONE] without a reason ends the answer', async () => {
    const { begin, text } = FORMATS[format]
    const { failure, parts, ...outcome } = await ask(format, [
      { body: `${begin}${text('It is 900.')}data: [DONE]\n\n` },
    ])
    expect([outcome.text, failure]).toEqual(['It is 900.', undefined])
    expect(parts.at(-1)).toMatchObject({ type: 'finish', isCut: false })
  })

  test('a stream that simply ends was cut off', async () => {
    const { begin, text } = FORMATS[format]
    const outcome = await ask(format, [{ body: begin + text('It is') }])
    expect(outcome).toMatchObject({ text: 'It is', failure: { code: 'provider_cut_off', retryable: true } })
  })

  test.for(['text/plain', 'application/octet-stream', 'application/json'])('a stream of the type %s', async (type) => {
    expect(await ask(format, [{ body: whole(format, 'It is 900.'), type }])).toMatchObject({
      text: 'It is 900.',
      failure: undefined,
    })
  })

  test.for([0, 2])('one JSON document, indented by %i', async (indent) => {
    const body = JSON.stringify(WHOLE[format]('It is 900.', false), null, indent)
    const outcome = await ask(format, [{ body, type: 'application/json' }])
    expect(outcome).toMatchObject({ text: 'It is 900.', failure: undefined })
    expect(outcome.parts.at(-1)).toMatchObject({ type: 'finish', isCut: false })
    const cut = await ask(format, [{ body: JSON.stringify(WHOLE[format]('It is', true), null, indent) }])
    expect(cut.parts.at(-1)).toMatchObject({ type: 'finish', isCut: true })
  })

  test('one JSON document that breaks off, and one that is no answer', async () => {
    const body = JSON.stringify(WHOLE[format]('It is 900.', false), null, 1)
    expect(await ask(format, [{ body: body.slice(0, -20) }])).toMatchObject({ failure: { code: 'provider_cut_off' } })
    const other = await ask(format, [{ body: '{"detail": "Not on this route"}', type: 'application/json' }])
    expect(other.failure).toMatchObject({ message: containing('Not on this route') })
    const failed = await ask(format, [{ body: JSON.stringify({ error: { message: TOO_LONG, code: 400 } }) }])
    expect(failed.failure).toMatchObject({ code: 'provider_rejected', message: containing(TOO_LONG) })
    const worded = await ask(format, [{ body: JSON.stringify({ error: 'model requires more system memory' }) }])
    expect(worded.failure).toMatchObject({ message: containing('more system memory') })
  })

  test('one JSON object a line', async () => {
    const lines = whole(format, 'It is ', '900.')
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => `${line.slice('data: '.length)}\n`)
    expect(await ask(format, [{ body: lines.join(''), type: 'application/x-ndjson' }])).toMatchObject({
      text: 'It is 900.',
      failure: undefined,
    })
  })

  test('an HTML page is told as one, with its title', async () => {
    const body = '<!DOCTYPE html>\n<html><head><title>Sign in to Café&nbsp;Wi-Fi</title></head><body>…</body></html>'
    const { failure, text } = await ask(format, [{ body, type: 'text/html' }])
    expect(text).toBe('')
    expect(failure).toMatchObject({
      retryable: false,
      message: matching(/web page.*Sign in to Café Wi-Fi\.$/),
    })
  })

  test('a plain text is told as it is, and an empty answer too', async () => {
    const { failure } = await ask(format, [{ body: 'upstream connect error', type: 'text/plain' }])
    expect(failure).toMatchObject({ message: containing('upstream connect error') })
    const empty = await ask(format, [{ body: '' }])
    expect(empty.failure).toMatchObject({ retryable: true, message: containing('answered with nothing') })
  })

  test.for([
    [413, /request as large as this question.*\(413\).*413 Request Entity Too Large\.$/, false],
    [403, /in front of .* refused the request \(403\).*Forbidden by policy/, false],
    [401, /in front of .* sign-in of its own \(401\)/, false],
    [404, /web server at the address .* but no model \(404\)/, false],
    [429, /no more requests for now \(429\)/, true],
    [502, /cannot reach it \(502\).*502 Bad Gateway/, true],
    [503, /cannot reach it \(503\)/, true],
    [504, /cannot reach it \(504\)/, true],
  ] as const)('the page of a proxy with status %i is told in words', async ([status, message, retryable]) => {
    const titles: Readonly<Record<number, string>> = {
      403: 'Forbidden by policy',
      413: '413 Request Entity Too Large',
      502: '502 Bad Gateway',
    }
    const body = `<html>\r\n<head><title>${titles[status] ?? 'Oh no'}</title></head><body><hr>nginx</body></html>`
    const { failure } = await ask(format, [{ body, status, type: 'text/html' }])
    expect(failure).toMatchObject({ retryable, message: matching(message) })
    expect(failure).not.toMatchObject({ code: 'provider_refused_key' })
  })

  test('thoughts that end without a beginning', async () => {
    const body = whole(format, 'first I weigh ', 'both plans.\n</thi', 'nk>\n\nThe answer', ' is 43.')
    expect(await ask(format, [{ body }])).toMatchObject({
      text: 'The answer is 43.',
      reasoning: 'first I weigh both plans.\n',
      failure: undefined,
    })
  })

  test('channel marks', async () => {
    const body = whole(
      format,
      '<|chan',
      'nel|>analysis<|mess',
      'age|>Rent?<|e',
      'nd|><|start|>assistant<|channel|>final<|message|>',
      '900.',
    )
    expect(await ask(format, [{ body }])).toMatchObject({ text: '900.', reasoning: 'Rent?', failure: undefined })
  })
})

const chunk = (choice: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) =>
  event(undefined, { choices: [{ index: 0, ...choice }], ...more })
const USAGE = { prompt_tokens: 3, completion_tokens: 7 }
const { text: chatText, end: chatEnd } = FORMATS['OpenAI-compatible']
const askChat = (body: string, ...more: readonly string[]) =>
  ask(
    'OpenAI-compatible',
    [body, ...more].map((one) => ({ body: one })),
    [TOOL],
  )

test.for([
  ['without choices', { usage: USAGE }],
  ['with choices that are null', { choices: null, usage: USAGE }],
  ['with a choice that is null', { choices: [null], usage: USAGE }],
  ['with no choice', { choices: [], usage: USAGE }],
])('usage %s is counted', async ([, usage]) => {
  const body = `${chatText('It is 900.')}${chunk({ delta: {}, finish_reason: 'stop' })}${event(undefined, usage)}data: [DONE]\n\n`
  const { text, parts } = await askChat(body)
  expect(text).toBe('It is 900.')
  expect(parts.at(-1)).toMatchObject({ type: 'finish', tokensIn: 3, tokensOut: 7 })
})

test.for([
  ['an empty list', []],
  ['nothing', null],
  ['an empty entry', [{}]],
  ['null', [null]],
  ['an entry without a function', [{ index: 0, id: 'c', type: 'function' }]],
  ['an entry with an empty name', [{ index: 0, id: 'c', function: { name: '', arguments: '' } }]],
  ['an entry with a name that is null', [{ index: 0, function: { name: null, arguments: '{}' } }]],
])('%s among the tool calls calls none, and the answer is complete', async ([, calls]) => {
  const body = chunk({ delta: { content: 'It is ', tool_calls: calls } }) + chatText('900.') + chatEnd(false)
  const alone = chunk({ delta: { tool_calls: calls } }) + body
  for (const one of [body, alone]) {
    const { text, parts, failure } = await askChat(one)
    expect([text, failure]).toEqual(['It is 900.', undefined])
    expect(parts.filter(({ type }) => type === 'failed-call')).toEqual([])
  }
})

test('a call whose name comes late, whose arguments are an object, or whose end has another reason, is made', async () => {
  const called: unknown[] = []
  const look: ChatTool = { ...TOOL, run: (input) => Promise.resolve(void called.push(input)).then(() => 'seen') }
  const late =
    chunk({ delta: { tool_calls: [{ index: 0, id: 'c', function: { arguments: '{"a"' } }] } }) +
    chunk({ delta: { tool_calls: [{ index: 0, function: { name: 'look', arguments: ':1}' } }] } }) +
    chunk({ delta: {}, finish_reason: 'stop' })
  const object =
    chunk({ delta: { tool_calls: [{ index: 0, id: 'd', function: { name: 'look', arguments: { a: 2 } } }] } }) +
    chunk({ delta: {}, finish_reason: 'tool_calls' })
  const answers = [late, object, whole('OpenAI-compatible', 'Seen.')].map((body) => ({ body }))
  const { text, failure } = await ask('OpenAI-compatible', answers, [look])
  expect([text, failure, called]).toEqual(['Seen.', undefined, [{ a: 1 }, { a: 2 }]])
})

test('a call whose pieces have no index is made with all its arguments, and a thought under two names counts once', async () => {
  const called: unknown[] = []
  const look: ChatTool = { ...TOOL, run: (input) => Promise.resolve(void called.push(input)).then(() => 'seen') }
  const call =
    chunk({ delta: { reasoning: 'Hm', reasoning_content: 'Hm' } }) +
    chunk({ delta: { tool_calls: [{ id: 'a', function: { name: 'look', arguments: '' } }] } }) +
    chunk({ delta: { tool_calls: [{ function: { arguments: '{"a"' } }] } }) +
    chunk({ delta: { tool_calls: [{ function: { arguments: ':1}' } }] } }) +
    chunk({ delta: {}, finish_reason: 'tool_calls' })
  const answers = [call, whole('OpenAI-compatible', 'Seen.')].map((body) => ({ body }))
  const { text, reasoning, failure } = await ask('OpenAI-compatible', answers, [look])
  expect([text, reasoning, failure, called]).toEqual(['Seen.', 'Hm', undefined, [{ a: 1 }]])
})

test('an empty reason in every chunk ends nothing, and lines that break off were cut off', async () => {
  const empty = (content: string) => chunk({ delta: { content }, finish_reason: '' })
  expect(await askChat(empty('Half ') + empty('an'))).toMatchObject({
    text: 'Half an',
    failure: { code: 'provider_cut_off' },
  })
  expect(await askChat(empty('It is 900.') + chatEnd(false))).toMatchObject({ text: 'It is 900.', failure: undefined })
  const line = `${JSON.stringify({ message: { content: 'Half an' }, done: false })}\n`
  expect(await askChat(line)).toMatchObject({ text: 'Half an', failure: { code: 'provider_cut_off' } })
})

test('an answer of messages that stops without a reason is complete', async () => {
  const { begin, text } = FORMATS.Anthropic
  const body = begin + text('It is 900.') + event('message_stop', { type: 'message_stop' })
  expect(await ask('Anthropic', [{ body }])).toMatchObject({ text: 'It is 900.', failure: undefined })
})

test('thoughts without a beginning before and after a tool call', async () => {
  const call =
    chatText('I should search</think>') +
    chunk({ delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'look', arguments: '{}' } }] } }) +
    chunk({ delta: {}, finish_reason: 'tool_calls' })
  const outcome = await askChat(call, whole('OpenAI-compatible', 'Now I ', 'know</think>', 'It is 900.'))
  expect(outcome).toMatchObject({ text: 'It is 900.', reasoning: 'I should searchNow I know', failure: undefined })
})

test('thoughts after a tool call are no answer', async () => {
  const call =
    chatText('I look it up.') +
    chunk({ delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'look', arguments: '{}' } }] } }) +
    chunk({ delta: {}, finish_reason: 'tool_calls' })
  const outcome = await askChat(call, whole('OpenAI-compatible', '<think>Seen', '.</think>\n', 'It is 900.'))
  expect(outcome).toMatchObject({ text: 'I look it up.\n\nIt is 900.', reasoning: 'Seen.', failure: undefined })
})

test('lines of Ollama, a message in the place of a delta, and a plain completion', async () => {
  const lines = [
    { model: 'm', message: { role: 'assistant', content: '', thinking: 'Rent?' }, done: false },
    { model: 'm', message: { role: 'assistant', content: 'It is 900.' }, done: false },
    {
      model: 'm',
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: 'length',
      prompt_eval_count: 3,
      eval_count: 7,
    },
  ]
  const ollama = await askChat(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  expect(ollama).toMatchObject({ text: 'It is 900.', reasoning: 'Rent?', failure: undefined })
  expect(ollama.parts.at(-1)).toEqual({ type: 'finish', tokensIn: 3, tokensOut: 7, isCut: true, isFiltered: false })
  const message = chunk({ message: { role: 'assistant', content: 'It is 900.' }, finish_reason: 'stop' })
  expect(await askChat(message)).toMatchObject({ text: 'It is 900.', failure: undefined })
  expect(await askChat(chunk({ text: 'It is 900.', finish_reason: 'stop' }))).toMatchObject({ text: 'It is 900.' })
})

test.for([
  ['OpenAI-compatible', chatText('It is') + chunk({ delta: {}, finish_reason: 'content_filter' })],
  [
    'Anthropic',
    FORMATS.Anthropic.begin +
      FORMATS.Anthropic.text('It is') +
      FORMATS.Anthropic.end(false).replace('end_turn', 'refusal'),
  ],
  [
    'OpenAI',
    FORMATS.OpenAI.begin +
      FORMATS.OpenAI.text('It is') +
      FORMATS.OpenAI.end(true).replace('max_output_tokens', 'content_filter'),
  ],
] as const)('%s: an answer that the content filter ends says so', async ([format, body]) => {
  const { text, parts } = await ask(format, [{ body }])
  expect(text).toBe('It is')
  expect(parts.at(-1)).toMatchObject({ type: 'finish', isFiltered: true, isCut: false })
})
