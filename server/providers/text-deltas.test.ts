import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { toWebStream } from './http-client.ts'
import { createDeltaReader } from './text-deltas.ts'
import type { WireFormat } from './wire-format.ts'

const event = (data: unknown, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

const FORMATS = {
  chat: (text: string) => event({ id: 'c', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
  responses: (delta: string) =>
    event({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta }, 'x'),
  messages: (text: string) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
}
const DONE = 'data: [DONE]\n\n'
const ENDS = {
  chat: event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null }) + DONE,
  responses: event({ type: 'response.completed', response: {} }) + DONE,
  messages:
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }) +
    event({ type: 'message_stop' }) +
    DONE,
}
const END = ENDS.chat

/** Returns the remaining stream and the reported text for the given chunks. */
async function pass(pieces: readonly (string | Uint8Array | Error)[], format: WireFormat = 'chat') {
  const taken = { text: '', reasoning: '' }
  const pauses: string[] = []
  const onPause = () => Promise.resolve(void pauses.push(taken.text))
  const deltaReader = createDeltaReader({ onText: (kind, text) => (taken[kind] += text), onPause }, format)
  const decoder = new TextDecoder()
  let left = ''
  let failure: unknown
  try {
    for await (const bytes of toWebStream(Readable.from(bytesOf(pieces)), { deltaReader }))
      left += decoder.decode(bytes, { stream: true })
  } catch (error) {
    failure = error
  }
  return { ...taken, left, failure, pauses }
}

function* bytesOf(pieces: readonly (string | Uint8Array | Error)[]) {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece
    yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
}

const WORDS = ['The ', 'brücke ', 'of ', '日本 ', '👩‍👩‍👧 ', 'stands.']

const formats = Object.keys(FORMATS) as WireFormat[]

test.for(formats)('reads the text of %s, and leaves the end', async (format) => {
  const passed = await pass([...WORDS.map(FORMATS[format]), ENDS[format]], format)
  expect(passed).toMatchObject({ text: WORDS.join(''), left: ENDS[format] })
})

test('reports text synchronously, before the stream goes on', async () => {
  const taken: string[] = []
  const bytes = new PassThrough()
  const deltaReader = createDeltaReader({ onText: (_, text) => taken.push(text) }, 'chat')
  const reader = toWebStream(bytes, { deltaReader }).getReader()
  const read = reader.read()
  await once(bytes, 'resume')
  bytes.write(FORMATS.chat('first'))
  expect(taken).toEqual(['first'])
  await reader.cancel()
  expect(await read).toEqual({ done: true, value: undefined })
})

test('holds events after a block of text back until the listener resumes, whatever is requested or arrives', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>()
  const taken: string[] = []
  const onPause = () => released.then(() => void taken.push('released'))
  const deltaReader = createDeltaReader({ onText: (_, text) => taken.push(text), onPause }, 'responses')
  const end = event({ type: 'response.output_text.done', output_index: 0, text: 'a' })
  const bytes = new PassThrough()
  const read = text(toWebStream(bytes, { deltaReader })).then((left) => taken.push(left))
  const paused = once(bytes, 'pause')
  bytes.write(FORMATS.responses('a') + end)
  await paused
  bytes.end(FORMATS.responses('b') + ENDS.responses)
  await new Promise(setImmediate)
  expect(taken).toEqual(['a'])
  release(undefined)
  await read
  expect(taken).toEqual(['a', 'released', 'b', end + ENDS.responses])
})

test('a listener whose pause rejects ends the stream', async () => {
  const broken = new Error('the listener broke')
  const deltaReader = createDeltaReader({ onText: () => undefined, onPause: () => Promise.reject(broken) }, 'chat')
  await expect(text(toWebStream(Readable.from(bytesOf([FORMATS.chat('a'), END])), { deltaReader }))).rejects.toBe(
    broken,
  )
})

test('reads events however their bytes are split', async () => {
  const bytes = new TextEncoder().encode(WORDS.map(FORMATS.chat).join('') + END)
  const passed = await pass(Array.from(bytes, (byte) => Uint8Array.of(byte)))
  expect(passed).toMatchObject({ text: WORDS.join(''), left: END })
})

test('distinguishes reasoning from text', async () => {
  const thought = event({
    choices: [{ index: 0, delta: { role: 'assistant', content: null, reasoning_content: 'hm' } }],
  })
  expect(await pass([thought, FORMATS.chat('a'), END])).toMatchObject({ reasoning: 'hm', text: 'a', left: END })
})

test('takes the text out of chunks that contain more, in order, and leaves the rest', async () => {
  const chunk = (choice: unknown, more = {}) => event({ choices: [choice], ...more })
  const likely = { index: 0, delta: { content: 'b' }, logprobs: { content: [1] } }
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }
  const calling = { index: 0, delta: { content: 'd', tool_calls: [call] } }
  const last = { index: 0, delta: { content: 'e' }, finish_reason: 'stop' }
  const counted = chunk(last, { usage: { total: 1 } })
  const { left, text } = await pass([
    FORMATS.chat('a'),
    chunk(likely),
    FORMATS.chat('c'),
    chunk(calling),
    counted,
    DONE,
  ])
  expect(text).toBe('abcde')
  expect(left.split('\n\n').map((one) => one.slice('data: '.length))).toMatchObject([
    expect.stringContaining('logprobs'),
    expect.stringContaining('"name":"f"'),
    expect.stringContaining('"usage":{"total":1}'),
    '[DONE]',
    '',
  ])
  expect(left).not.toMatch(/"content":"\w/)
})

test('leaves events of messages that contain no text unchanged', async () => {
  const signed = event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } })
  const { left } = await pass([FORMATS.messages('a'), signed, FORMATS.messages('b'), ENDS.messages], 'messages')
  expect(left).toBe(signed + ENDS.messages)
})

test.for(['\r\n', '\r'])('reads streams whose lines end in %j, for every chunking', async (lineEnd) => {
  const stream = (FORMATS.chat('a') + ': ping\n\n' + FORMATS.chat('b') + END).replaceAll('\n', lineEnd)
  const passed = await pass(Array.from(new TextEncoder().encode(stream), (byte) => Uint8Array.of(byte)))
  expect(passed).toMatchObject({ text: 'ab', left: END, failure: undefined })
})

test('leaves data that breaks off to the SDK, and drops signs of life', async () => {
  const { left, text } = await pass(['data: {not json}\n\n', 'data: ping\n\n', FORMATS.chat('a'), END])
  expect([left, text]).toEqual([`data: {not json}\n\n${END}`, 'a'])
})

test('a stream that ends before the answer does is an error', async () => {
  const { text, failure } = await pass([FORMATS.chat('a')])
  expect(text).toBe('a')
  expect(failure).toMatchObject({ message: 'the stream ended before the answer did' })
})

test('an error of a listener ends the stream', async () => {
  const broken = new Error('the listener broke')
  const onText = () => {
    throw broken
  }
  const deltaReader = createDeltaReader({ onText }, 'chat')
  const bytes = Readable.from(bytesOf([FORMATS.chat('a'), END]))
  await expect(text(toWebStream(bytes, { deltaReader }))).rejects.toBe(broken)
  expect(bytes.destroyed).toBe(true)
})

test('delivers everything before a failure, then the failure', async () => {
  const broken = new Error('the line broke')
  const passed = await pass([FORMATS.chat('a'), FORMATS.chat('b'), FORMATS.chat('c'), broken])
  expect(passed).toMatchObject({ text: 'abc', failure: broken })
})

test.for([
  ['chat', event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: { total: 1 } })],
  ['responses', event({ type: 'response.output_text.done', output_index: 0, text: 'a' })],
  ['messages', event({ type: 'content_block_stop', index: 0 }, 'content_block_stop')],
] as const)('says that the text of %s has ended as soon as it is read', async ([format, end]) => {
  const pieces = [FORMATS[format]('a'), FORMATS[format]('b')]
  const passed = await pass([...pieces, end, format === 'chat' ? DONE : ENDS[format]], format)
  expect(passed).toMatchObject({ text: 'ab', pauses: ['ab'], failure: undefined })
  expect(passed.left.startsWith(end)).toBe(true)
})

test('pauses once, after the text of the last chunk, whatever else is quoted or sent', async () => {
  const last = event({ choices: [{ index: 0, delta: { content: 'd' }, finish_reason: 'stop' }] })
  const quote = '{"type":"content_block_stop","finish_reason":"stop"}'
  const pieces = [FORMATS.chat('a'), FORMATS.chat(quote), ': a comment\n\n', last, DONE]
  expect((await pass(pieces)).pauses).toEqual([`a${quote}d`])
})
